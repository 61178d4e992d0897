import { findServices, type ServiceIndex, serviceIndex } from '../../marketplace/services/market/finding.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { type OfferState, offerState } from '../cashier/offer-state.ts'
import type { RegistryEntry } from '../contract/market.ts'
import { registryEntries } from '../market/registry.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'

/** One service of this node: its registry entry, its definition, and its state on each rail. */
export interface Listing {
  readonly entry: RegistryEntry
  readonly offer: Offer
  readonly state: OfferState
}

/** A search among listings. */
export interface Search {
  readonly q?: string | undefined
  readonly capability?: string | undefined
}

/** Every service of this node, unavailable ones too, in the order of the registry. */
export function listingsOf(node: NodeApi, baseUrl: string): readonly Listing[] {
  const { chain, market } = node
  if (market === null) return []
  return registryEntries(node, baseUrl).map((entry) => {
    const offer = market.shop.offer(entry.serviceId) as Offer
    return { entry, offer, state: offerState(chain, market, offer) }
  })
}

const INDEXES = new WeakMap<MarketApi, ServiceIndex<Offer>>()

/** Built once: the services of a market do not change. */
function indexOf(market: MarketApi): ServiceIndex<Offer> {
  const index = INDEXES.get(market) ?? serviceIndex(market.shop.offers, ({ definition }) => definition)
  INDEXES.set(market, index)
  return index
}

/**
 * The entries of a capability, or of all without one. Without a query they keep the order of `all`. With a query only the
 * matching entries remain, ranked as in every search of this node.
 */
export function matching<T>(
  { market }: Pick<NodeApi, 'market'>,
  all: readonly T[],
  entryOf: (one: T) => RegistryEntry,
  { q = '', capability }: Search,
): readonly T[] {
  const wanted = all.filter((one) => capability === undefined || entryOf(one).capability === capability)
  if (q.trim() === '' || market === null) return wanted
  const byId = new Map(wanted.map((one) => [entryOf(one).serviceId, one]))
  const entryFor = ({ definition }: Offer): T | undefined => byId.get(definition.serviceId)
  const isAvailable = (offer: Offer): boolean => {
    const one = entryFor(offer)
    return one !== undefined && entryOf(one).available
  }
  return findServices(indexOf(market), q, isAvailable).flatMap(({ found }) => entryFor(found) ?? [])
}

/** Name of the seller; empty if the node sells nothing. */
export function sellerName(market: MarketApi | null): string {
  return market?.shop.operator.name ?? ''
}
