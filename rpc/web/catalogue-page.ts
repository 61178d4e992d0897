import { CAPABILITIES } from '../../marketplace/ledger/capabilities.ts'
import { type Listing, listingsOf, matching, type Search, sellerName } from '../discovery/listings.ts'
import { PerHead } from '../discovery/per-head.ts'
import { dollars, railPrices } from '../discovery/prices.ts'
import { nativeUsd } from '../market/registry.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import { counted, durationText, figure, shareText, stateMark, unknownText } from './figures.ts'
import { type Html, html, NOTHING } from './html.ts'
import { pageText } from './layout.ts'

const LISTS = new PerHead<readonly Row[]>(32)
const WHOLE = new PerHead<string>(32)

interface Row {
  readonly listing: Listing
  readonly markup: Html
}

/** `/agents`: every service of this node, or those that a search finds. */
export function cataloguePage(node: NodeApi, baseUrl: string, search: Search): string {
  const all = LISTS.get(node, baseUrl, () =>
    listingsOf(node, baseUrl).map((listing) => ({ listing, markup: rowMarkup(node, listing) })),
  )
  const isWhole = (search.q ?? '') === '' && (search.capability ?? '') === ''
  return isWhole ? WHOLE.get(node, baseUrl, () => write(node, baseUrl, all, {})) : write(node, baseUrl, all, search)
}

/** Column heads, for wide windows only. Narrow ones show the names at the figures. */
const HEADS = html`<div class="heads" aria-hidden="true"><span>Service</span><div><span>Price</span><span>Delivered</span><span>95 % within</span><span>State</span></div></div>`

function write(node: NodeApi, baseUrl: string, all: readonly Row[], search: Search): string {
  const capability = search.capability === '' ? undefined : search.capability
  const found = matching(node, all, ({ listing }) => listing.entry, { q: search.q, capability })
  const seller = sellerName(node.market)
  const who = seller === '' ? 'This node' : seller
  return pageText({
    title: `Services for agents, sold by ${who}`,
    description: `${who} sells ${counted(all.length, 'service')} to AI agents, paid call by call, with a record that the chain keeps.`,
    canonical: `${baseUrl}/agents`,
    json: '/services.json',
    here: '/agents',
    hasChat: node.chat != null,
    main: html`<header>
<h1>Services for agents</h1>
<p class="lede">${who} sells ${counted(all.length, 'service')}, paid call by call. No account and no key: payment is the authentication, and a call that fails is refunded.</p>
${factsMarkup(node, all)}
</header>
${searchForm(all, search)}
<p class="tally" role="status">${tally(found.length, all.length, search)}</p>
${found.length === 0 ? NOTHING : html`${HEADS}<ul class="rows">${found.map(({ markup }) => markup)}</ul>`}`,
  })
}

function tally(found: number, all: number, { q = '', capability = '' }: Search): Html {
  if (all === 0) return html`This node sells no services.`
  if (q === '' && capability === '') return html`${counted(all, 'service')}, in the order of the registry.`
  const words = q === '' ? NOTHING : html` for “${q}”`
  const kind = capability === '' ? NOTHING : html` of the capability ${capability}`
  return html`${found} of ${counted(all, 'service')}${words}${kind}. <a href="/agents">Show all</a>`
}

function factsMarkup(node: NodeApi, all: readonly Row[]): Html {
  const { params } = node.chain.ruleBook
  const available = all.filter(({ listing }) => listing.entry.available).length
  const prices = all.map(({ listing }) => listing.state.priceUsdMicros).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const usd = nativeUsd(node)
  const { terms } = node.market?.stable ?? {}
  const rails = terms === undefined ? params.ticker : `${params.ticker} and ${terms.asset.symbol}`
  const where = terms === undefined ? `on ${params.name}` : `on ${params.name}, or on ${terms.network.word}`
  const range = prices.length === 0 ? 'none' : `${dollars(prices[0] as bigint)} to ${dollars(prices.at(-1) as bigint)}`
  return html`<dl class="facts">${[
    figure(
      'Available now',
      `${available} of ${all.length}`,
      available === all.length ? 'every one of them' : 'the others say why not',
    ),
    figure('Price of a call', range, 'fixed in dollars'),
    figure('Paid in', rails, where),
    figure(`One ${params.ticker}`, usd === null ? 'not priced yet' : `$${usd}`, 'by the pool on chain'),
  ]}</dl>`
}

function searchForm(all: readonly Row[], { q = '', capability = '' }: Search): Html {
  const options = CAPABILITIES.map((name) => {
    const count = all.filter(({ listing }) => listing.entry.capability === name).length
    const selected = name === capability ? html` selected` : NOTHING
    return count === 0 ? NOTHING : html`<option value="${name}"${selected}>${name} (${count})</option>`
  })
  return html`<form action="/agents" method="get" role="search">
<div><label for="q">Search</label><input id="q" name="q" type="search" maxlength="80" autocomplete="off" value="${q}"></div>
<div><label for="capability">Capability</label><select id="capability" name="capability"><option value="">all</option>${options}</select></div>
<button>Show</button>
</form>`
}

function rowMarkup({ chain, market }: NodeApi, listing: Listing): Html {
  const { serviceId, name, description, capability, reputation } = listing.entry
  const coins = railPrices(chain, market as MarketApi, listing)[0]?.amount ?? 'not priced in coins yet'
  const { delivered, failed, expired, successPct, p95Ms } = reputation
  const ended = delivered + failed + expired
  return html`<li class="row">
<div><h2><a href="/agents/${serviceId}">${name}</a></h2>
<p class="id"><code>${serviceId}</code> · <a href="/agents?capability=${capability}">${capability}</a></p>
<p class="about">${description}</p></div>
<dl class="figures">
<div class="price"><dt>Price</dt><dd>${dollars(listing.state.priceUsdMicros)} <small>${coins}</small></dd></div>
${ended === 0 ? figure('Delivered', unknownText('no calls yet'), '') : figure('Delivered', shareText(successPct), `of ${counted(ended, 'call')}`)}
<div><dt>95 % within</dt><dd>${p95Ms === null ? unknownText('–') : durationText(p95Ms)}</dd></div>
<div><dt>State</dt><dd>${stateMark(listing.entry)}</dd></div>
</dl>
</li>`
}
