import { CANDLE_MS, candleIndex, candleOf, candleRange, type HourlyCandle, hourOf } from '../../amm/candles.ts'
import type { Pool } from '../../amm/pool.ts'
import { decodeTrade, placeOfEntry, type Trade, type TradePlace, tradeIndex, tradeRange } from '../../amm/trades.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { PoolId } from '../../consensus/primitives/ids.ts'
import { coinOf } from './assets.ts'

/** Hours that the figures of a day are summed over: the current one, as far as it has come, and the 23 before it. */
export const DAY_HOURS = 24

/** Trades on the best chain, newest first; `before` is the place of the last one read before, `poolId` names one pool. */
export async function listTrades(
  chain: ChainReader,
  query: { readonly poolId?: PoolId | undefined; readonly before?: TradePlace | undefined; readonly limit: number },
): Promise<readonly Trade[]> {
  const { database } = chain
  const index = tradeIndex(coinOf(chain).symbol)
  const places = await database.indexPage(index, tradeRange(query), placeOfEntry)
  return places.flatMap((place) => {
    const value = database.indexed(index, place)
    // A reading whose head has moved meanwhile is begun anew.
    return value === undefined ? [] : [decodeTrade(value)]
  })
}

/** Hour of the head, counted from 1970: what is "now" in candles. */
export function hourNow({ head }: ChainReader): number {
  return hourOf(head.header.timeMs)
}

/** Time at which an hour begins, milliseconds since 1970. */
export function startOfHour(hour: number): number {
  return hour * CANDLE_MS
}

/** Candles of the hours `from` to before `to` in which something happened to the pool, oldest first, at most the newest `limit`. */
export async function listCandles(
  chain: ChainReader,
  query: { readonly poolId: PoolId; readonly from: number; readonly to: number; readonly limit: number },
): Promise<readonly HourlyCandle[]> {
  const index = candleIndex(coinOf(chain).symbol)
  const newestFirst = await chain.database.indexPage(index, candleRange(query), candleOf)
  return newestFirst.toReversed()
}

/** What a pool did in the last {@link DAY_HOURS} hours, in base units. */
export interface PoolDay {
  readonly volumeX: bigint
  readonly volumeY: bigint
  /** What stayed with the LPs, by the asset that was paid in. */
  readonly feesX: bigint
  readonly feesY: bigint
  readonly trades: number
  /** Reserves as they were when the day began; null for a pool that is younger, or where nothing is known. */
  readonly before: Pick<Pool, 'reserveX' | 'reserveY'> | null
}

/** Sums of the last day of a pool. */
export async function poolDay(chain: ChainReader, poolId: PoolId): Promise<PoolDay> {
  const to = hourNow(chain) + 1
  const from = to - DAY_HOURS
  const [candles, earlier] = await Promise.all([
    listCandles(chain, { poolId, from, to, limit: DAY_HOURS }),
    listCandles(chain, { poolId, from: 0, to: from, limit: 1 }),
  ])
  const sum = (field: 'volumeX' | 'volumeY' | 'feesX' | 'feesY'): bigint =>
    candles.reduce((total, candle) => total + candle[field], 0n)
  const [before = null] = earlier
  return {
    ...{ volumeX: sum('volumeX'), volumeY: sum('volumeY'), feesX: sum('feesX'), feesY: sum('feesY') },
    trades: candles.reduce((total, candle) => total + candle.trades, 0),
    before: before && { reserveX: before.reserveX, reserveY: before.reserveY },
  }
}
