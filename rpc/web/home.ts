import { nativeSupply } from '../../consensus/ledger/supply.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { CAPABILITIES } from '../../marketplace/ledger/capabilities.ts'
import { commandCall } from '../discovery/how-to-call.ts'
import { type Listing, listingsOf, sellerName } from '../discovery/listings.ts'
import { PerHead } from '../discovery/per-head.ts'
import { dollars } from '../discovery/prices.ts'
import type { NodeApi } from '../node/node-api.ts'
import { counted, figure, grouped } from './figures.ts'
import { type Html, html, NOTHING } from './html.ts'
import { pageText } from './layout.ts'

const LISTS = new PerHead<Html>(32)

/** The page at `/`: what this node is, what it sells, and how to call it. */
export function homePage(node: NodeApi, baseUrl: string): string {
  const { name } = node.chain.ruleBook.params
  const seller = sellerName(node.market)
  return pageText({
    title: `Farthing node, ${name}`,
    description: `A full node of the ${name} that sells services to AI agents.`,
    canonical: `${baseUrl}/`,
    json: '/api/v1/status',
    hasChat: node.chat != null,
    main: html`<header><h1>A full node that sells to agents</h1>
<p class="lede">${seller === '' ? 'This node' : seller} keeps the ${name}, a proof-of-work chain with a market in it, and answers paid calls over plain HTTP.</p>
${nodeFacts(node)}</header>
${LISTS.get(node, 'sold', () => soldMarkup(listingsOf(node, baseUrl)))}
<section><h2>Call one</h2><p class="soft">In a folder of Farthing: a copy of its repository after <code>npm ci</code>. Elsewhere <code>npx --no farthing</code> is not ours.</p><pre><code>${commandCall({ baseUrl, serviceId: 'node-network-stats', request: '', network: name })}</code></pre></section>
<section><h2>For programs</h2><ul class="links">${documentsOf(node).map(([path, note]) => html`<li><a href="${path}">${path}</a> <span class="soft">${note}</span></li>`)}</ul></section>`,
  })
}

function nodeFacts({ chain, mempool, mining, peerCount }: NodeApi): Html {
  const { params } = chain.ruleBook
  const { header } = chain.head
  const { minted, burned } = nativeSupply(chain.database)
  const coins = formatAmount((minted - burned) / 10n ** 6n, params.decimals - 6)
  const at = new Date(header.timeMs).toISOString()
  return html`<dl class="facts">${[
    figure('Height', grouped(String(header.height)), `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`),
    figure('Circulating', `${grouped(coins)} ${params.ticker}`, 'minted less burned'),
    figure('Waiting', counted(mempool.count, 'transaction'), 'in the mempool'),
    figure(
      'Network',
      counted(peerCount(), 'peer'),
      `${grouped(String(Math.round(mining().hashesPerSecond)))} hashes a second here`,
    ),
  ]}</dl>`
}

function soldMarkup(all: readonly Listing[]): Html {
  if (all.length === 0) return html`<section><h2>Services</h2><p>This node sells no services.</p></section>`
  const chips = CAPABILITIES.map((name) => {
    const count = all.filter(({ entry }) => entry.capability === name).length
    return count === 0 ? NOTHING : html`<li><a href="/agents?capability=${name}">${name} <span>${count}</span></a></li>`
  })
  const rows = all.map(
    ({ entry, state }) =>
      html`<li><a href="/agents/${entry.serviceId}">${entry.name}</a> <span>${entry.available ? dollars(state.priceUsdMicros) : 'unavailable'}</span></li>`,
  )
  return html`<section><h2>${counted(all.length, 'service')}</h2>
<ul class="chips" aria-label="Capabilities">${chips}</ul>
<ul class="list">${rows}</ul>
<p class="more"><a href="/agents">All services with state and record</a></p></section>`
}

function documentsOf({ chat }: NodeApi): typeof DOCUMENTS {
  return chat == null ? DOCUMENTS : [...DOCUMENTS, ...CHAT_DOCUMENTS]
}

const CHAT_DOCUMENTS: typeof DOCUMENTS = [
  ['/chat', 'free chat with five models, over the interface of OpenAI'],
  ['/api/v1/info', 'facts about the chat platform'],
]

const DOCUMENTS: readonly (readonly [string, string])[] = [
  ['/services.json', 'the registry: price, state and record of every service'],
  ['/.well-known/x402', 'the payment protocol'],
  ['/x402/discovery', 'the list that x402 catalogues read'],
  ['/.well-known/agent-card.json', 'the A2A card'],
  ['/llms.txt', 'what language models should know'],
  ['/openapi.json', 'the whole API'],
  ['/api/x402/requests', 'recent paid calls'],
  ['/api/v1/status', 'this node'],
  ['/api/v1/blocks', 'the chain'],
  ['/metrics', 'metrics for Prometheus'],
]
