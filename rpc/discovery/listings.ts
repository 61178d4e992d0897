import type { Offer } from '../../marketplace/checkout/operator.ts'
import { type OfferState, offerState } from '../cashier/offer-state.ts'
import type { RegistryEntry } from '../contract/market.ts'
import type { MarketApi, NodeApi } from '../node.ts'
import { registryEntries } from '../registry.ts'

/** One service of this node: as the registry shows it, as it is defined, and how it stands on each rail. */
export interface Listing {
  readonly entry: RegistryEntry
  readonly offer: Offer
  readonly state: OfferState
}

/** What a listing is searched by. */
export interface Search {
  readonly q?: string | undefined
  readonly capability?: string | undefined
}

/** Every service of this node, unavailable ones too, in the order of the table. */
export function listingsOf(node: NodeApi, baseUrl: string): readonly Listing[] {
  const { chain, market } = node
  if (market === null) return []
  return registryEntries(node, baseUrl).map((entry) => {
    const offer = market.shop.offer(entry.serviceId) as Offer
    return { entry, offer, state: offerState(chain, market, offer) }
  })
}

/** Entries of a capability that hold every word of a query in id, name, capability or description. */
export function matching<T>(
  all: readonly T[],
  entryOf: (one: T) => RegistryEntry,
  { q = '', capability }: Search,
): T[] {
  const words = q.toLowerCase().split(/\s+/)
  return all.filter((one) => {
    const entry = entryOf(one)
    const text = `${entry.serviceId} ${entry.name} ${entry.capability} ${entry.description}`.toLowerCase()
    return (capability === undefined || entry.capability === capability) && words.every((word) => text.includes(word))
  })
}

/** Name of whoever sells here, empty where nothing is sold. */
export function sellerName(market: MarketApi | null): string {
  return market?.shop.operator.name ?? ''
}
