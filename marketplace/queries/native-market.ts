import { PRICE_ONE } from '../../amm/math.ts'
import { accumulatedAt, POOLS, PRICE_ENTRIES, poolIdOf } from '../../amm/pool.ts'
import { pricedPoolId } from '../../amm/price-entries.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { type PoolRow, poolRow } from './pools.ts'
import { dollarAsset } from './prices.ts'
import { type Ratio, ratio } from './ratio.ts'
import { DAY_HOURS, hourNow, poolDay, startOfHour } from './trading.ts'

/** The native coin in its deepest dollar pool. Prices are in millionths of a dollar per base unit. */
export interface NativeMarket {
  /** The pool of native coin and dollar token with the most dollars, at any fee. */
  readonly row: PoolRow
  readonly spot: Ratio
  readonly depthUsdMicros: bigint
  /** Price at `sinceMs`; null if the pool is younger, or if this node does not know so far back. */
  readonly before: Ratio | null
  /** Start of the last 24 hours, in milliseconds since 1970. */
  readonly sinceMs: number
}

/** The native coin's deepest dollar pool; null if there is none. */
export async function nativeMarket(chain: ChainReader): Promise<NativeMarket | null> {
  const row = deepestDollarPool(chain)
  if (row === undefined) return null
  const { before } = await poolDay(chain, row.poolId)
  return {
    row,
    spot: ratio(row.pool.reserveY, row.pool.reserveX),
    depthUsdMicros: row.pool.reserveY,
    before: before && ratio(before.reserveY, before.reserveX),
    sinceMs: startOfHour(hourNow(chain) + 1 - DAY_HOURS),
  }
}

/** The pool of native coin and dollar token with the most dollars, at any fee; undefined if there is none. */
export function deepestDollarPool(chain: ChainReader): PoolRow | undefined {
  const { database, ruleBook, head } = chain
  const dollar = dollarAsset(chain)
  const rows = ruleBook.at(head.header.height + 1).tx.poolFeesBps.flatMap((feeBps) => {
    const poolId = poolIdOf(NATIVE_ASSET, dollar, feeBps)
    const pool = database.get(POOLS, poolId)
    return pool === undefined ? [] : [poolRow(chain, poolId, pool)]
  })
  return rows.toSorted((a, b) => (a.pool.reserveY > b.pool.reserveY ? -1 : 1))[0]
}

/** Mean price of the priced pool over block ends. */
export interface MeanPrice {
  readonly mean: Ratio
  /** First block of the mean, at least the requested time before the head, and its last block. */
  readonly fromHeight: number
  readonly toHeight: number
}

/**
 * From the newest epoch start at least `ms` before the head: blocks / sum of coins per dollar, the formula of the
 * market's own price. Null if no price entry is that old, or if the priced pool does not exist.
 */
export function meanPriceSince(chain: ChainReader, ms: number): MeanPrice | null {
  const { database, ruleBook, head } = chain
  const { height, timeMs } = head.header
  const { market } = ruleBook.at(height)
  const pool = database.get(POOLS, pricedPoolId(market))
  if (pool === undefined) return null
  for (let epoch = Math.floor(height / market.epochBlocks); epoch >= 0; epoch--) {
    const entry = database.get(PRICE_ENTRIES, epoch)
    if (entry === undefined) return null
    const fromHeight = epoch * market.epochBlocks
    if (timeAt(chain, fromHeight) > timeMs - ms) continue
    const sum = accumulatedAt(pool, height + 1).xPerY - entry.nativePerDollar
    return { mean: ratio(BigInt(height + 1 - fromHeight) * PRICE_ONE, sum), fromHeight, toHeight: height }
  }
  return null
}

function timeAt({ database }: ChainReader, height: number): number {
  const id = database.idAt(height)
  const entry = id === undefined ? undefined : database.entry(id)
  assert(entry !== undefined, `the best chain has no block at height ${height}`)
  return entry.header.timeMs
}
