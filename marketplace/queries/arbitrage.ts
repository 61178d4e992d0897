import { fundsFrom, POOLS, poolIdOf } from '../../amm/pool.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { type Cycle, type CycleLimits, cycleLimits, marginPpm } from './cycle-search.ts'
import { type PoolRow, poolRow, poolsOf } from './pools.ts'
import { dollarAsset } from './prices.ts'
import { compareRatios, ONE, type Ratio, ratio, times } from './ratio.ts'

/** How many pools with the most native coins are examined. Those with the dollar token are examined in any case. */
export const NATIVE_POOLS_MAX = 16

/** A route from the native coin to the dollar token over one pool or two. */
export interface DollarWay {
  readonly pools: readonly PoolRow[]
  /** Millionths of a dollar per base unit of the native coin at the pools' prices, before fees. */
  readonly price: Ratio
}

/** The widest spread between two routes without a common pool: buy over one, sell over the other. */
export interface Spread {
  readonly buy: DollarWay
  readonly sell: DollarWay
  /** Gain of a tiny trade after all fees, in parts per million; negative if fees exceed the spread. */
  readonly netPpm: bigint
  /** Limits of a trade over both routes, in millionths of a dollar, with fees and rounding. */
  readonly limits: CycleLimits
}

/** Routes of at most two pools, highest price first. Pools with a frozen token are left out. */
export async function dollarWays(chain: ChainReader): Promise<readonly DollarWay[]> {
  const dollar = dollarAsset(chain)
  const rows = (await poolsOf(chain, NATIVE_ASSET, NATIVE_POOLS_MAX)).filter(tradable)
  const direct = joining(chain, NATIVE_ASSET, dollar)
  const all = [...direct, ...rows.filter(({ poolId }) => !direct.some((known) => known.poolId === poolId))]
  return all
    .flatMap((row) =>
      row.y.asset === dollar ? [[row]] : joining(chain, row.y.asset, dollar).map((last) => [row, last]),
    )
    .map((pools) => ({ pools, price: priceOver(pools) }))
    .toSorted((a, b) => compareRatios(b.price, a.price) || (nameOf(a) < nameOf(b) ? -1 : 1))
}

/** The widest spread among routes that are sorted by price, highest first; null if there is none. */
export function widestSpread(chain: ChainReader, ways: readonly DollarWay[]): Spread | null {
  let widest: { readonly buy: DollarWay; readonly sell: DollarWay; readonly ratio: Ratio } | null = null
  for (const sell of ways) {
    // The lowest price among the routes that share no pool with `sell` gives the widest spread.
    const buy = ways.findLast((way) => way !== sell && !sharesPool(way, sell))
    if (buy === undefined || compareRatios(buy.price, sell.price) > 0) continue
    const apart = times(sell.price, ratio(buy.price.denominator, buy.price.numerator))
    if (widest === null || compareRatios(apart, widest.ratio) > 0) widest = { buy, sell, ratio: apart }
  }
  if (widest === null) return null
  const { buy, sell } = widest
  const cycle = cycleOf(dollarAsset(chain), [...buy.pools.toReversed(), ...sell.pools])
  return { buy, sell, netPpm: marginPpm(cycle), limits: cycleLimits(cycle) }
}

function tradable({ x, y }: PoolRow): boolean {
  return !x.frozen && !y.frozen
}

function joining(chain: ChainReader, one: Hash, other: Hash): readonly PoolRow[] {
  const { database, ruleBook, head } = chain
  return ruleBook.at(head.header.height + 1).tx.poolFeesBps.flatMap((feeBps) => {
    const poolId = poolIdOf(one, other, feeBps)
    const pool = database.get(POOLS, poolId)
    return pool === undefined ? [] : [poolRow(chain, poolId, pool)].filter(tradable)
  })
}

function priceOver(pools: readonly PoolRow[]): Ratio {
  return walk(NATIVE_ASSET, pools).reduce(
    (price, { reserveIn, reserveOut }) => times(price, ratio(reserveOut, reserveIn)),
    ONE,
  )
}

function cycleOf(from: Hash, pools: readonly PoolRow[]): Cycle {
  return walk(from, pools)
}

/** Each pool is oriented so that it takes the output of the one before. */
function walk(from: Hash, pools: readonly PoolRow[]): Cycle {
  let asset = from
  return pools.map(({ pool }) => {
    const { reserveA, reserveB } = fundsFrom(pool, asset)
    asset = asset === pool.assetX ? pool.assetY : pool.assetX
    return { reserveIn: reserveA, reserveOut: reserveB, feeBps: BigInt(pool.feeBps) }
  })
}

function sharesPool(one: DollarWay, other: DollarWay): boolean {
  return one.pools.some(({ poolId }) => other.pools.some((pool) => pool.poolId === poolId))
}

function nameOf({ pools }: DollarWay): string {
  return pools.map(({ name }) => name).join(' ')
}
