import type { Chain } from '../../consensus/chain/chain.ts'
import { epochOf } from '../../consensus/ledger/epoch.ts'
import { type Agent, priceInEpoch, type Service } from '../../marketplace/ledger/agents.ts'
import { capabilityNumber, capabilitySet } from '../../marketplace/ledger/capabilities.ts'
import { type DollarTerms, dollarAmount } from '../../marketplace/till/rails/dollar/terms.ts'
import { computeQuote, type NativeQuote } from '../../marketplace/till/rails/native/quote.ts'
import type { TabPrice } from '../../marketplace/till/rails/tab/tab-call.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import type { MarketApi } from '../node/node-api.ts'

/**
 * State on the native rail. The quote exists even before the service is on chain; it is null without a price in coins.
 * The reason is null if the offer can be sold.
 */
export interface NativeState {
  readonly quote: NativeQuote | null
  readonly reason: string | null
}

/** State on the stablecoin rail: units of the asset, and why the offer cannot be sold, or null. */
export interface StableState {
  readonly amount: bigint
  readonly reason: string | null
}

/** State on a tab. The price is null if no call is taken on one; the reason is null if the offer can be sold. */
export interface TabOfferState {
  readonly price: TabPrice | null
  readonly reason: string | null
}

/** An offer can be bought if it can be bought over one of the rails. */
export interface OfferState {
  readonly priceUsdMicros: bigint
  readonly native: NativeState
  /** Null if the stablecoin rail is off. */
  readonly stable: StableState | null
  /** Null if this node takes no tabs. */
  readonly tab: TabOfferState | null
  /** Null if this node takes no channels. */
  readonly channel: StableState | null
  /** Why the offer cannot be bought, or null. */
  readonly reason: string | null
}

/** A rail that is paid in dollars. */
interface DollarDoor {
  readonly terms: DollarTerms
  readonly closedBecause: string | null
}

/** Reason during a reorganisation: the price at the head may not hold in the next block. */
const PASSING = 'the node is moving to another branch of the chain; ask again in a moment'

/** The state of an offer at the head. */
export function offerState(chain: Chain, market: MarketApi, offer: Offer): OfferState {
  const { shop, stable: rail } = market
  const { height } = chain.head.header
  const service = shop.record(offer.definition.serviceId) ?? expectedService(offer)
  const priceUsdMicros = priceInEpoch(service, epochOf(height, chain.ruleBook.at(height).market))
  const native = nativeState(chain, market, { offer, service })
  const unready = shop.readiness(offer)
  const inDollars = ({ terms, closedBecause }: DollarDoor): StableState => ({
    amount: dollarAmount(terms.asset, priceUsdMicros),
    reason: (chain.moving ? PASSING : null) ?? (unready.available ? null : unready.reason) ?? closedBecause,
  })
  const stable = rail === null ? null : inDollars(rail)
  const channel = market.channels == null || market.channels.isEnding ? null : inDollars(market.channels)
  const reason = stable !== null && stable.reason === null ? null : native.reason
  return { priceUsdMicros, native, stable, tab: tabState(chain, market, offer), channel, reason }
}

function nativeState(
  chain: Chain,
  market: MarketApi,
  { offer, service }: { readonly offer: Offer; readonly service: Service },
): NativeState {
  const { shop, price, settings } = market
  const agent = shop.agent ?? expectedAgent(market)
  const { agentId } = shop.operator
  const { definition } = offer
  const quoted = computeQuote({ chain, price, settings, agentId, agent, service, definition })
  const availability = shop.availability(offer)
  const passing = chain.moving ? PASSING : null
  return {
    quote: quoted.quote,
    reason: passing ?? quoted.reason ?? (availability.available ? null : availability.reason),
  }
}

function tabState({ moving }: Chain, { shop, tabs }: MarketApi, offer: Offer): TabOfferState | null {
  if (!tabs) return null
  const price = tabs.priceOf(offer.definition.serviceId)
  if ('reason' in price) return { price: null, reason: price.reason }
  const availability = shop.availability(offer)
  return { price, reason: (moving ? PASSING : null) ?? (availability.available ? null : availability.reason) }
}

function expectedAgent({ shop }: MarketApi): Agent {
  const { owner, payout, settler, name, endpoint } = shop.operator
  const capabilities = capabilitySet(shop.offers.map(({ definition }) => definition.capability))
  return { version: 1, owner, payout, settlers: [settler.address], name, endpoint, capabilities, registeredAt: 0 }
}

function expectedService({ definition, priceUsdMicros }: Offer): Service {
  const { name, requestFormat, description, capability } = definition
  return {
    version: 1,
    capability: capabilityNumber(capability),
    retired: false,
    priceUsdMicros,
    previousPriceUsdMicros: priceUsdMicros,
    previousPriceLastEpoch: 0,
    name,
    requestFormat,
    description,
    publishedAt: 0,
  }
}
