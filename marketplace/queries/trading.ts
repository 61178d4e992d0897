import { CANDLE_MS, candleIndex, candleOf, candleRange, type HourlyCandle, hourOf } from '../../amm/candles.ts'
import type { Pool } from '../../amm/pool.ts'
import { decodeTrade, placeOfEntry, type Trade, type TradePlace, tradeIndex, tradeRange } from '../../amm/trades.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { PoolId } from '../../consensus/primitives/ids.ts'
import { coinOf } from './assets.ts'

/** Hours in the figures of a day: the current, unfinished hour and the 23 before it. */
export const DAY_HOURS = 24

/** Newest first. `before` is the last trade of the page before. */
export async function listTrades(
  chain: ChainReader,
  query: { readonly poolId?: PoolId | undefined; readonly before?: TradePlace | undefined; readonly limit: number },
): Promise<readonly Trade[]> {
  const { database } = chain
  const index = tradeIndex(coinOf(chain).symbol)
  const places = await database.indexPage(index, tradeRange(query), placeOfEntry)
  return places.flatMap((place) => {
    const value = database.indexed(index, place)
    // The head has moved, so `atOneHead` will repeat the reading.
    return value === undefined ? [] : [decodeTrade(value)]
  })
}

/** Hour of the head, counted from 1970; the current hour of candles. */
export function hourNow({ head }: ChainReader): number {
  return hourOf(head.header.timeMs)
}

/** Start of an hour, in milliseconds since 1970. */
export function startOfHour(hour: number): number {
  return hour * CANDLE_MS
}

/** From hour `from` to before `to`, oldest first, at most the newest `limit`. Hours without activity have no candle. */
export async function listCandles(
  chain: ChainReader,
  query: { readonly poolId: PoolId; readonly from: number; readonly to: number; readonly limit: number },
): Promise<readonly HourlyCandle[]> {
  const index = candleIndex(coinOf(chain).symbol)
  const newestFirst = await chain.database.indexPage(index, candleRange(query), candleOf)
  return newestFirst.toReversed()
}

/** A pool's activity in the last {@link DAY_HOURS} hours, in base units. */
export interface PoolDay {
  readonly volumeX: bigint
  readonly volumeY: bigint
  /** Fees that the LPs earned, by the asset that was paid in. */
  readonly feesX: bigint
  readonly feesY: bigint
  readonly trades: number
  /** Reserves at the start of the day; null if the pool is younger or the reserves are unknown. */
  readonly before: Pick<Pool, 'reserveX' | 'reserveY'> | null
}

/** Sums of a pool's last day. */
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
