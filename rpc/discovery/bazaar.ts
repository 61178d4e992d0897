import type { Offer } from '../../marketplace/till/shop.ts'
import type { OfferState } from '../cashier/offer-state.ts'
import { paymentOptions, type Rail, resourceUrl, shownOptions } from '../cashier/options.ts'
import type { QuoteBook } from '../cashier/quotes.ts'
import { moment } from '../json/chain-json.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import { listingsOf, matching, sellerName } from './listings.ts'
import { PerHead } from './per-head.ts'

/** The x402 version of a list. */
export type Generation = 1 | 2

/** An absent member filters nothing. */
export interface ResourceFilter {
  readonly type?: string | undefined
  readonly payTo?: string | undefined
  readonly scheme?: string | undefined
  readonly network?: string | undefined
  readonly extensions?: string | undefined
  /** Words to find services by. */
  readonly query?: string | undefined
}

/** A part of a list: at most `limit` items, after `offset` others. */
export interface ListWindow {
  readonly limit: number
  readonly offset: number
}

type Option = Readonly<Record<string, unknown>>

interface Item {
  readonly text: string
  readonly accepts: readonly Option[]
  readonly extensions: object
  readonly entry: ReturnType<typeof listingsOf>[number]['entry']
}

const LISTS = new PerHead<readonly Item[]>(64)

/** What items are made from. */
export interface BazaarBasis {
  readonly node: NodeApi
  readonly quotes: QuoteBook
  readonly baseUrl: string
}

/** The items in the window, as JSON texts, and the number of all that pass the filter. */
export function bazaarItems(
  basis: BazaarBasis,
  generation: Generation,
  { filter, window: { limit, offset } }: { readonly filter: ResourceFilter; readonly window: ListWindow },
): { readonly texts: readonly string[]; readonly total: number } {
  const { node, baseUrl } = basis
  const all = LISTS.get(node, `${generation} ${baseUrl}`, () => itemsOf(basis, generation))
  const described = matching(node, all, ({ entry }) => entry, { q: filter.query })
  const found = described.filter((item) => passes(item, filter))
  return { texts: found.slice(offset, offset + limit).map(({ text }) => text), total: found.length }
}

function passes({ accepts, extensions }: Item, filter: ResourceFilter): boolean {
  if (filter.type !== undefined && filter.type !== 'http') return false
  if (filter.extensions !== undefined && !Object.hasOwn(extensions, filter.extensions)) return false
  return accepts.some((option) => fits(option, filter))
}

function fits(option: Option, { payTo, scheme, network }: ResourceFilter): boolean {
  return (
    (scheme === undefined || option.scheme === scheme) &&
    (network === undefined || option.network === network) &&
    (payTo === undefined || String(option.payTo).toLowerCase() === payTo.toLowerCase())
  )
}

function itemsOf(basis: BazaarBasis, generation: Generation): readonly Item[] {
  const { node, baseUrl } = basis
  const { market } = node
  if (market === null) return []
  return listingsOf(node, baseUrl).flatMap(({ entry, offer, state }): readonly Item[] => {
    if (state.reason !== null) return []
    const shown =
      generation === 1 ? firstGeneration(basis, market, offer, state) : secondGeneration(basis, offer, state)
    const { extensions = {}, ...described } = shown
    const { example, requestFormat, resultSchema, capability } = offer.definition
    const item = {
      resource: resourceUrl(baseUrl, entry.serviceId, railOf(state)),
      type: 'http',
      x402Version: generation,
      ...described,
      lastUpdated: moment(node.chain.head.header.timeMs),
      metadata: {
        category: capability,
        provider: sellerName(market),
        serviceId: entry.serviceId,
        priceUsd: entry.priceUsd,
        input: { request: example },
        requestFormat,
        outputSchema: resultSchema,
        page: `${baseUrl}/agents/${entry.serviceId}`,
      },
      ...(shown.extensions === undefined ? {} : { extensions }),
    }
    return [{ text: JSON.stringify(item), accepts: shown.accepts, extensions, entry }]
  })
}

/** Rail in the listed URL. The quote at that URL must show the same options as the list, or catalogues drop the service. */
function railOf({ stable }: OfferState): Rail | undefined {
  return stable !== null && stable.reason === null ? 'stable' : undefined
}

interface Shown {
  readonly accepts: readonly Option[]
  readonly extensions?: object
}

function firstGeneration(
  { node: { chain }, baseUrl }: BazaarBasis,
  market: MarketApi,
  offer: Offer,
  state: OfferState,
): Shown {
  const options = paymentOptions({ chain, market, offer, baseUrl }, state, railOf(state))
  return { accepts: shownOptions(options, 'v1').accepts }
}

function secondGeneration({ quotes, baseUrl }: BazaarBasis, offer: Offer, state: OfferState): Shown {
  const rail = railOf(state)
  const resource = resourceUrl(baseUrl, offer.definition.serviceId, rail)
  const terms = quotes.terms(offer, { requestId: '', baseUrl, rail, resource })
  const { accepts, extensions } = terms as unknown as Required<Shown>
  const { description, mimeType, serviceName, tags } = terms.resource as Readonly<Record<string, unknown>>
  return { ...{ description, mimeType, serviceName, tags }, accepts, extensions }
}
