import type { RegistryEntry } from '../contract/market.ts'
import { clientCall, commandCall, curlQuote } from '../discovery/how-to-call.ts'
import { type Listing, listingsOf } from '../discovery/listings.ts'
import { PerHead } from '../discovery/per-head.ts'
import { dollars, railPrices } from '../discovery/prices.ts'
import { withTextsCut } from '../market/sample-texts.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import { counted, durationText, shareText, stateMark } from './figures.ts'
import { type Html, html, NOTHING } from './html.ts'
import { pageText } from './layout.ts'

const PAGES = new PerHead<string>(200)

/** Undefined if this node does not sell the service. */
export function servicePage(node: NodeApi, baseUrl: string, serviceId: string): string | undefined {
  if (node.market?.shop.offer(serviceId) === undefined) return undefined
  return PAGES.get(node, `${serviceId} ${baseUrl}`, () => {
    const listing = listingsOf(node, baseUrl).find(({ entry }) => entry.serviceId === serviceId) as Listing
    return write({ node, market: node.market as MarketApi, baseUrl, listing })
  })
}

/** `/agents/{serviceId}` for a service that does not exist. */
export function noServicePage(baseUrl: string, serviceId: string, suggestions: readonly string[]): string {
  const links = suggestions.map((id) => html`<li><a href="/agents/${id}">${id}</a></li>`)
  const meant =
    links.length === 0 ? NOTHING : html`<section><h2>You may have meant</h2><ul class="list">${links}</ul></section>`
  return pageText({
    title: 'No such service',
    description: 'This node does not sell a service of this name.',
    canonical: `${baseUrl}/agents`,
    json: '/services.json',
    main: html`<h1>No such service</h1>
<p class="lede">Nothing called <code>${serviceId.slice(0, 64)}</code> is sold here. <a href="/agents">All services</a></p>
${meant}`,
  })
}

interface Basis {
  readonly node: NodeApi
  readonly market: MarketApi
  readonly baseUrl: string
  readonly listing: Listing
}

function write(basis: Basis): string {
  const { baseUrl, listing } = basis
  const { serviceId, name, description, capability } = listing.entry
  return pageText({
    title: `${name}: a service for agents`,
    description,
    canonical: `${baseUrl}/agents/${serviceId}`,
    here: '/agents',
    hasChat: basis.node.chat != null,
    json: `/services/${serviceId}/example`,
    main: html`<div class="page">
<header>
<nav class="crumbs" aria-label="Where this is"><a href="/agents">Services</a> / <a href="/agents?capability=${capability}">${capability}</a></nav>
<h1>${name}</h1>
<p class="id"><code>${serviceId}</code></p>
<p class="lede">${description}</p>
<p class="banner">${stateMark(listing.entry)}</p>
${remedyMarkup(listing.entry)}</header>
<div class="side">${priceMarkup(basis)}${recordMarkup(basis)}</div>
<div>${callMarkup(basis)}${sampleMarkup(listing)}${linksMarkup(listing)}</div>
</div>`,
  })
}

function remedyMarkup({ available, requires = [] }: RegistryEntry): Html {
  if (available) return NOTHING
  const settings = requires.map((name, i) => html`${i === 0 ? '' : ' or '}<code>${name}</code>`)
  const operator = requires.length === 0 ? '' : html` The operator of this node can offer it with ${settings}.`
  return html`<p class="soft">It cannot be bought here now, and a payment that is offered all the same is returned.${operator}</p>`
}

function priceMarkup({ node, market, listing }: Basis): Html {
  const costs = railPrices(node.chain, market, listing).map(({ rail, amount, network, reason }) => {
    const name = rail === 'native' ? 'Native coin, held in escrow on chain' : 'Stablecoin, by authorization (EIP-3009)'
    const note = reason === null ? `on ${network}` : `on ${network}; not now: ${reason}`
    return html`<div class="cost"><dt>${name}</dt><dd>${amount ?? 'not priced yet'} <small>${note}</small></dd></div>`
  })
  const price = html`<div class="cost first"><dt>One call</dt><dd>${dollars(listing.state.priceUsdMicros)}</dd></div>`
  return html`<section><h2>Price</h2><dl>${price}${costs}</dl></section>`
}

function recordMarkup({ node, listing }: Basis): Html {
  const { ticker } = node.chain.ruleBook.params
  const record = listing.entry.reputation
  const { delivered, failed, expired, byTab } = record
  if (delivered + failed + expired + byTab.provenCalls === 0)
    return html`<section><h2>Record on chain</h2><p class="soft">No paid call of it has ended yet. Success rate, refunds, times and payers will stand here, from chain data.</p>${stableMarkup(listing)}</section>`
  const rows: readonly (readonly [string, string])[] = [
    ['Success rate', shareText(record.successPct)],
    ['Proven at least', shareText(record.successAtLeastPct)],
    ['Calls delivered', String(delivered)],
    ['Refunds', failed + expired === 0 ? '0' : `${record.refunds} (${failed} failed, ${expired} expired)`],
    ['Half answered within', durationText(record.p50Ms)],
    ['95 % answered within', durationText(record.p95Ms)],
    ['Distinct payers', String(record.distinctPayers)],
    ['As concentrated as', counted(Number(record.effectivePayers), 'equal payer')],
    ['Share of the top payer', shareText(record.topPayerPct)],
    [`${ticker} burned for it`, record.burned.text],
    ['Calls on tabs', String(byTab.provenCalls)],
    [`${ticker} burned for these`, byTab.burned.text],
  ]
  const pairs = rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)
  return html`<section><h2>Record on chain</h2><dl class="pairs">${pairs}</dl>
<p class="small soft">Calls of the seller’s own accounts are left out. “Proven at least” is the lower end of the 95 % interval; times are the seller’s own claim.</p>${stableMarkup(listing)}</section>`
}

/** The count of calls paid in dollars. This chain does not record them, so it is the seller's word alone. */
function stableMarkup({ entry: { provenCallsStable } }: Listing): Html {
  if (provenCallsStable === 0) return NOTHING
  return html`<p class="small soft">Besides, ${counted(provenCallsStable, 'call')} paid in a stablecoin, by the seller’s own count.</p>`
}

function linksMarkup({ entry: { serviceId } }: Listing): Html {
  return html`<section><h2>As JSON</h2><ul class="links">
<li><a href="/api/x402/requests?serviceId=${serviceId}">Recent calls</a> <span class="soft">with receipts and refunds</span></li>
<li><a href="/services.json?q=${serviceId}">Registry entry</a> <span class="soft">price, state and record</span></li>
<li><a href="/services/${serviceId}/example">Example</a> <span class="soft">with the schema of the result</span></li>
</ul></section>`
}

function callMarkup({ node, baseUrl, listing }: Basis): Html {
  const { serviceId, requestFormat, example } = listing.entry
  const call = { baseUrl, serviceId, request: example, network: node.chain.ruleBook.params.name }
  const format =
    requestFormat === ''
      ? html`<p>Optional context: any text, also none.</p>`
      : html`<p>Text: <code>${requestFormat}</code></p>`
  return html`<section><h2>Request</h2>${format}</section>
<section><h2>Call it</h2>
<div class="how"><h3>Ask for the price</h3><p class="soft">Free. The answer is 402 with every way to pay.</p><pre><code>${curlQuote(call)}</code></pre></div>
<div class="how"><h3>From a shell</h3><p class="soft">In a folder of Farthing; elsewhere <code>npx --no farthing</code> is not ours. Quotes, pays, waits, and checks the proofs of the answer.</p><pre><code>${commandCall(call)}</code></pre></div>
<div class="how"><h3>From a program</h3><p class="soft">With spend ceilings on by default. <code>npm run build:client</code> in a folder of Farthing writes the package.</p><pre><code>${clientCall(call)}</code></pre></div>
</section>`
}

function sampleMarkup({ entry, offer }: Listing): Html {
  const result = JSON.stringify(withTextsCut(offer.definition.sample), null, 2)
  const request = JSON.stringify({ request: entry.example })
  return html`<section><h2>Free sample</h2>
<div class="how"><h3>Request</h3><pre><code>${request}</code></pre></div>
<div class="how"><h3>Result</h3><pre class="tall" tabindex="0" role="region" aria-label="Sample of the result"><code>${result}</code></pre></div>
</section>`
}
