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

/** The native coin in the pool that holds most dollars against it. Prices are millionths of a dollar for one base unit. */
export interface NativeMarket {
  /** Native coin and dollar token, at whichever fee holds most dollars. */
  readonly row: PoolRow
  readonly spot: Ratio
  /** Dollars in it, in millionths. */
  readonly depthUsdMicros: bigint
  /** Its price when the day began; null where no trade is so old. */
  readonly before: Ratio | null
  /** When the day began, milliseconds since 1970. */
  readonly sinceMs: number
}

/** The native coin's deepest dollar pool; null where there is none. */
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

/** The pool of native coin and dollar token that holds most dollars, at whichever fee; undefined where there is none. */
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

/** Mean price over block ends of the priced pool. */
export interface MeanPrice {
  readonly mean: Ratio
  /** Its first block, at least as long before the head as was asked, and its last. */
  readonly fromHeight: number
  readonly toHeight: number
}

/**
 * Mean price of the native coin in the priced pool from the newest epoch start that lies `ms` or more before the head, up
 * to the head: blocks / sum of coins per dollar, as the market's own price is worked out. Null where no entry is so old.
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
