import type { FoldedIndex, IndexEntry, IndexRead, IndexWrite } from '../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../consensus/chain/events.ts'
import type { IndexRange } from '../consensus/chain/index-reads.ts'
import { ZERO } from '../consensus/primitives/amount.ts'
import { concat, fromHex, readUintBE, uintBE } from '../consensus/primitives/bytes.ts'
import { container, decodeOwn, encode, uint32, uint128, uint256, type ValueOf } from '../consensus/primitives/codec.ts'
import type { PoolId, TokenSymbol } from '../consensus/primitives/ids.ts'
import { feeOf, spotPrice } from './math.ts'
import { POOLS, type Pool, poolOfKey } from './pool.ts'
import { type Trade, tradesOf } from './trades.ts'

/** Milliseconds per candle. */
export const CANDLE_MS = 3_600_000

const CANDLE = container('Candle', {
  open: uint256,
  high: uint256,
  low: uint256,
  close: uint256,
  volumeX: uint256,
  volumeY: uint256,
  feesX: uint256,
  feesY: uint256,
  trades: uint32,
  reserveX: uint128,
  reserveY: uint128,
})

/**
 * One hour of a pool. Prices are those of its trades, fee included: Y per X in Q112.112; all zero without a trade. Fees
 * are in the asset paid in. Volumes and fees can exceed the range of an amount, since units can be traded repeatedly.
 * Reserves are those after the hour's last block that changed them.
 */
export type Candle = ValueOf<typeof CANDLE>

/** A candle with its hour, counted from 1970. */
export interface HourlyCandle extends Candle {
  readonly hour: number
}

/** The hour of a block, by its own time. */
export function hourOf(timeMs: number): number {
  return Math.floor(timeMs / CANDLE_MS)
}

/** Index of hourly candles by pool. `symbol` is the native coin's. */
export function candleIndex(symbol: TokenSymbol): FoldedIndex {
  return { name: 'candles', prefix: 0x05, fold: (connected, read) => foldBlock(connected, symbol, read) }
}

function foldBlock(connected: ConnectedBlock, symbol: TokenSymbol, read: IndexRead): readonly IndexWrite[] {
  const hour = hourOf(connected.block.header.timeMs)
  const trades = tradesOf(connected, symbol)
  return changedPools(connected).map(([poolId, pool]) => {
    const key = candleKey(poolId, hour)
    const known = read(key)
    const start: Candle = known === undefined ? EMPTY : decodeOwn(CANDLE, known)
    const traded = trades
      .filter((trade) => trade.poolId === poolId)
      .reduce((candle, trade) => withTrade(candle, trade, pool), start)
    return { key, value: encode(CANDLE, { ...traded, reserveX: pool.reserveX, reserveY: pool.reserveY }) }
  })
}

const EMPTY: Candle = {
  open: 0n,
  high: 0n,
  low: 0n,
  close: 0n,
  volumeX: 0n,
  volumeY: 0n,
  feesX: 0n,
  feesY: 0n,
  trades: 0,
  reserveX: ZERO,
  reserveY: ZERO,
}

/** Pools that the block changed, as it left them. Every trade changes its pool. */
function changedPools({ changes }: ConnectedBlock): readonly (readonly [PoolId, Pool])[] {
  return changes.flatMap(({ table, key, after }) =>
    table.prefix === POOLS.prefix && after !== undefined
      ? [[poolOfKey(key), decodeOwn(POOLS.codec, after)] as const]
      : [],
  )
}

function withTrade(
  candle: Candle,
  { assetIn, amountIn, amountOut }: Trade,
  { assetX, feeBps }: Pick<Pool, 'assetX' | 'feeBps'>,
): Candle {
  const xIn = assetIn === assetX
  const [amountX, amountY] = xIn ? [amountIn, amountOut] : [amountOut, amountIn]
  const fee = feeOf(amountIn, BigInt(feeBps))
  const price = spotPrice(amountY, amountX)
  const first = candle.trades === 0
  return {
    ...candle,
    open: first ? price : candle.open,
    high: first || price > candle.high ? price : candle.high,
    low: first || price < candle.low ? price : candle.low,
    close: price,
    volumeX: candle.volumeX + amountX,
    volumeY: candle.volumeY + amountY,
    feesX: xIn ? candle.feesX + fee : candle.feesX,
    feesY: xIn ? candle.feesY : candle.feesY + fee,
    trades: candle.trades + 1,
  }
}

const HOUR_BYTES = 4

function candleKey(poolId: PoolId, hour: number): Uint8Array {
  return concat(fromHex(poolId), hourKey(hour))
}

function hourKey(hour: number): Uint8Array {
  return uintBE(BigInt(hour), HOUR_BYTES)
}

/** Hours of a pool, from `from` to before `to`, at most the newest `limit`. */
export interface CandleQuery {
  readonly poolId: PoolId
  readonly from: number
  readonly to: number
  readonly limit: number
}

/** Hours with activity, newest first. */
export function candleRange({ poolId, from, to, limit }: CandleQuery): IndexRange {
  const prefix = fromHex(poolId)
  return { prefix, from: concat(prefix, hourKey(from)), to: concat(prefix, hourKey(to)), reverse: true, limit }
}

/** Decodes a candle with its hour. */
export function candleOf({ key, value }: IndexEntry): HourlyCandle {
  return { ...decodeOwn(CANDLE, value), hour: Number(readUintBE(key.subarray(-HOUR_BYTES))) }
}
