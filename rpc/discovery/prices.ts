import type { ChainReader } from '../../consensus/chain/reader.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import type { MarketApi } from '../node/node-api.ts'
import type { Listing } from './listings.ts'

const USD_DECIMALS = 6

/** Price of a service on one rail, for people. */
export interface RailPrice {
  readonly rail: 'native' | 'stable'
  /** Such as `0.024 FAR`; null while no price is known. */
  readonly amount: string | null
  /** Name of the chain that it is paid on. */
  readonly network: string
  /** Why it cannot be paid this way now, or null. */
  readonly reason: string | null
}

/** A price in dollars, such as `$0.006`. */
export function dollars(usdMicros: bigint): string {
  return `$${formatAmount(usdMicros, USD_DECIMALS)}`
}

/** Prices of a service on every rail that this node has, the native one first. */
export function railPrices(chain: ChainReader, market: MarketApi, { state }: Listing): readonly RailPrice[] {
  const { ticker, decimals, name } = chain.ruleBook.params
  const { native, stable } = state
  const amount = native.quote === null ? null : `${formatAmount(native.quote.amount, decimals)} ${ticker}`
  const prices: RailPrice[] = [{ rail: 'native', amount, network: name, reason: native.reason }]
  if (market.stable !== null && stable !== null) {
    const { asset, network } = market.stable.terms
    const text = `${dollarsOf(asset, stable.amount)} ${asset.symbol}`
    prices.push({ rail: 'stable', amount: text, network: network.word, reason: stable.reason })
  }
  return prices
}

/** The price of a service in one line, such as `$0.006 (0.024 FAR, or 0.006 USDC on base)`. */
export function priceLine(chain: ChainReader, market: MarketApi, listing: Listing): string {
  const ways = railPrices(chain, market, listing)
    .filter(({ amount }) => amount !== null)
    .map(({ rail, amount, network }) => (rail === 'native' ? amount : `${amount} on ${network}`))
  const price = dollars(listing.state.priceUsdMicros)
  return ways.length === 0 ? price : `${price} (${ways.join(', or ')})`
}
