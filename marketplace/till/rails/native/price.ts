import {
  type EpochPrice,
  epochDepth,
  epochPrice,
  epochStrays,
  microsOfNativeDown,
  microsOfNativeUp,
  nativeOfMicros,
} from '../../../../amm/oracle.ts'
import { POOLS } from '../../../../amm/pool.ts'
import { pricedPoolId } from '../../../../amm/price-entries.ts'
import type { Chain } from '../../../../consensus/chain/chain.ts'
import { type Amount, formatAmount } from '../../../../consensus/primitives/amount.ts'
import { priceInEpoch, type Service } from '../../../ledger/agents.ts'
import type { PriceBounds } from '../../settings.ts'

const USD_DECIMALS = 6

/** Why nothing is quoted in the native coin: a stable code, and a text with figures and settings. */
export interface NoPrice {
  readonly code:
    | 'no-pool'
    | 'no-full-epoch'
    | 'worthless'
    | 'unsettled'
    | 'pool-too-shallow'
    | 'price-too-low'
    | 'price-too-high'
  readonly reason: string
}

/** Dollar price of the native coin by epoch, by the chain alone. */
export interface NativePriceSource {
  /** Base units that so many millionths of a dollar cost, rounded up; undefined if unknown, or 2^112 and more. */
  priceOfMicros(micros: bigint, epoch: number): Amount | undefined
  /** Millionths of a dollar that so many base units are worth, rounded up; undefined if unknown. */
  microsOfAmount(units: bigint, epoch: number): bigint | undefined
  /** Millionths of a dollar for one coin, rounded down, for people; undefined if unknown, or if that is 0. */
  usdMicrosPerCoin(epoch: number): bigint | undefined
  /** Reserve of dollars in the pool, in millionths: the lower of the values at the two ends of the epoch before. */
  depthMicros(epoch: number): bigint | undefined
  missing(epoch: number): NoPrice | null
}

/** The price moved and came back within an epoch: the depth at its ends does not show how little money that took. */
const UNSETTLED: NoPrice = {
  code: 'unsettled',
  reason:
    'the mean price of the last epoch is more than a quarter below, or a third above, the prices at its beginning and its end',
}

/** The price that the chain's priced pool gives, by the state of the head. */
export function chainPrice(chain: Chain): NativePriceSource {
  const { database, ruleBook } = chain
  // The priced pool is the same in all rule steps.
  const { market } = ruleBook.at(0)
  const coin = 10n ** BigInt(ruleBook.params.decimals)
  const at = <T>(epoch: number, use: (price: EpochPrice) => T): T | undefined => {
    const price = epochPrice(database, epoch, market)
    return price === undefined ? undefined : use(price)
  }
  const usdMicrosPerCoin = (epoch: number): bigint | undefined =>
    at(epoch, (price) => microsOfNativeDown(price, coin)) || undefined
  return {
    priceOfMicros: (micros, epoch) => at(epoch, (price) => nativeOfMicros(price, micros)),
    microsOfAmount: (units, epoch) => at(epoch, (price) => microsOfNativeUp(price, units)),
    usdMicrosPerCoin,
    depthMicros: (epoch) => epochDepth(database, epoch),
    missing: (epoch) => {
      if (usdMicrosPerCoin(epoch) === undefined) return whyMissing(chain, epoch)
      return epochStrays(database, epoch, market) ? UNSETTLED : null
    },
  }
}

/** Name of the pool that prices the native coin, for people. */
export function pricedPoolName({ ruleBook: { at, params } }: Pick<Chain, 'ruleBook'>): string {
  const { dollar, feeBps } = at(0).market.pricedPool
  return `pool of ${params.ticker} and ${dollar} at ${formatAmount(BigInt(feeBps), 2)} %`
}

function whyMissing(chain: Chain, epoch: number): NoPrice {
  const { market } = chain.ruleBook.at(0)
  const name = pricedPoolName(chain)
  if (epochPrice(chain.database, epoch, market) !== undefined) {
    return { code: 'worthless', reason: 'a coin is worth less than $0.000001' }
  }
  return chain.database.get(POOLS, pricedPoolId(market)) === undefined
    ? { code: 'no-pool', reason: `the native coin has no price: there is no ${name}` }
    : { code: 'no-full-epoch', reason: `the native coin has no price: the ${name} has no full epoch behind it` }
}

/** Why the operator quotes nothing in the native coin in an epoch, or null. */
export function notQuoted(source: NativePriceSource, bounds: PriceBounds, epoch: number): NoPrice | null {
  const missing = source.missing(epoch)
  if (missing !== null) return missing
  const depth = source.depthMicros(epoch) ?? 0n
  if (depth < bounds.minPoolDepthMicros) {
    const least = dollars(bounds.minPoolDepthMicros)
    const reason = `the pool behind the price holds ${dollars(depth)}, below market.min-pool-depth-usd of ${least}`
    return { code: 'pool-too-shallow', reason }
  }
  return outOfBounds(source.usdMicrosPerCoin(epoch) ?? 0n, bounds)
}

function outOfBounds(usdMicros: bigint, { nativeUsdMinMicros, nativeUsdMaxMicros }: PriceBounds): NoPrice | null {
  const worth = `a coin is worth ${dollars(usdMicros)}`
  if (nativeUsdMinMicros !== null && usdMicros < nativeUsdMinMicros) {
    return { code: 'price-too-low', reason: `${worth}, below market.native-usd-min of ${dollars(nativeUsdMinMicros)}` }
  }
  if (nativeUsdMaxMicros !== null && usdMicros > nativeUsdMaxMicros) {
    return { code: 'price-too-high', reason: `${worth}, above market.native-usd-max of ${dollars(nativeUsdMaxMicros)}` }
  }
  return null
}

function dollars(micros: bigint): string {
  return `$${formatAmount(micros, USD_DECIMALS)}`
}

/** Base units, rounded up; undefined if unknown, or more than the chain can hold. */
export function priceIn(source: NativePriceSource, service: Service, epoch: number): Amount | undefined {
  return source.priceOfMicros(priceInEpoch(service, epoch), epoch)
}
