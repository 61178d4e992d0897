import type { HourlyCandle } from '../../amm/candles.ts'
import { LOCKED_SHARES } from '../../amm/math.ts'
import type { Trade } from '../../amm/trades.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { PoolId } from '../../consensus/primitives/ids.ts'
import { assetNamed, recordedAsset } from '../../marketplace/queries/assets.ts'
import { knowsDay } from '../../marketplace/queries/known-past.ts'
import { type PoolValues, poolValues } from '../../marketplace/queries/pool-values.ts'
import { listPools as listRows, type PoolRow, poolNamed, poolsOf } from '../../marketplace/queries/pools.ts'
import { listCandles as candlesOf, hourNow, listTrades, startOfHour } from '../../marketplace/queries/trading.ts'
import type { CANDLE, POOL, SWAP } from '../contract/pools.ts'
import type { Static } from '../contract/schema.ts'
import { amountJson, assetAmountJson, crossPrice, fixedPrice, percentText, usdText } from '../json/asset-json.ts'
import { addressText, moment } from '../json/chain-json.ts'
import type { Handler } from '../server/answer.ts'
import { answerAtHead, badCursor, cursorNumbers, pageLimit } from '../server/at-head.ts'

const CANDLES_DEFAULT = 168

/** The cursor stays valid, since pools are never removed. With `asset`, one page of its deepest pools. */
export const listPools: Handler<'listPools'> = ({ chain }, { query }) => {
  const cursor = query.cursor
  if (cursor !== undefined && (query.asset !== undefined || !isHex(cursor, 32))) return badCursor()
  const limit = pageLimit(query)
  return answerAtHead(chain, async () => {
    const page = await (query.asset === undefined
      ? listRows(chain, { after: cursor as PoolId, limit })
      : deepest(chain, query.asset, limit))
    if ('code' in page) return page
    const values = await Promise.all(page.pools.map((row) => poolValues(chain, row)))
    return { pools: values.map((row) => poolJson(chain, row)), nextCursor: page.next }
  })
}

async function deepest(
  chain: ChainReader,
  symbol: string,
  limit: number,
): Promise<{ readonly pools: readonly PoolRow[]; readonly next: null } | Fault> {
  const asset = assetNamed(chain, symbol)
  if (asset === undefined) return fault('rpc/asset-not-found', { symbol })
  return { pools: await poolsOf(chain, asset.asset, limit), next: null }
}

/** One pool. */
export const getPool: Handler<'getPool'> = ({ chain }, { params }) =>
  answerAtHead(chain, async () => {
    const row = poolNamed(chain, params.id)
    return row === undefined ? unknownPool(params.id) : { pool: poolJson(chain, await poolValues(chain, row)) }
  })

function poolJson(chain: ChainReader, { row, tvlUsdMicros, ...values }: PoolValues): Static<typeof POOL> {
  const { poolId, name, x, y, pool } = row
  const { reserveX, reserveY } = pool
  return {
    id: poolId,
    name,
    feeBps: pool.feeBps,
    x: amountJson(x, reserveX),
    y: amountJson(y, reserveY),
    shares: pool.shares.toString(),
    lockedShares: LOCKED_SHARES.toString(),
    priceYPerX: crossPrice({ numerator: reserveY, denominator: reserveX }, x, y),
    priceXPerY: crossPrice({ numerator: reserveX, denominator: reserveY }, y, x),
    createdAt: pool.createdAt,
    tvlUsd: usdText(tvlUsdMicros),
    day: knowsDay(chain) ? dayJson(values) : null,
  }
}

function dayJson({ day, volumeUsdMicros, feesUsdMicros, aprPpm }: Omit<PoolValues, 'row' | 'tvlUsdMicros'>) {
  return {
    volumeX: day.volumeX.toString(),
    volumeY: day.volumeY.toString(),
    feesX: day.feesX.toString(),
    feesY: day.feesY.toString(),
    trades: day.trades,
    volumeUsd: usdText(volumeUsdMicros),
    feesUsd: usdText(feesUsdMicros),
    aprPct: aprPpm === null ? null : percentText(aprPpm),
  }
}

/** The cursor is the earliest hour of the page before. Past hours change only with a reorganisation. */
export const listCandles: Handler<'listCandles'> = ({ chain }, { params, query }) => {
  const cursor = query.cursor === undefined ? undefined : cursorNumbers(query.cursor, 1)
  if (query.cursor !== undefined && cursor === undefined) return badCursor()
  const limit = pageLimit(query, CANDLES_DEFAULT)
  return answerAtHead(chain, async () => {
    const row = poolNamed(chain, params.id)
    if (row === undefined) return unknownPool(params.id)
    const to = cursor?.[0] ?? hourNow(chain) + 1
    const candles = await candlesOf(chain, { poolId: row.poolId, from: 0, to, limit })
    return {
      poolId: row.poolId,
      pool: row.name,
      source: 'executed swaps',
      indexedFrom: chain.database.indexedFrom,
      candles: candles.map((candle) => candleJson(row, candle)),
      nextCursor: candles.length === limit ? String((candles[0] as HourlyCandle).hour) : null,
    }
  })
}

function candleJson({ x, y }: PoolRow, candle: HourlyCandle): Static<typeof CANDLE> {
  const price = (value: bigint): string | null => (candle.trades === 0 ? null : fixedPrice(value, x, y))
  return {
    time: moment(startOfHour(candle.hour)),
    open: price(candle.open),
    high: price(candle.high),
    low: price(candle.low),
    close: price(candle.close),
    volumeX: candle.volumeX.toString(),
    volumeY: candle.volumeY.toString(),
    feesX: candle.feesX.toString(),
    feesY: candle.feesY.toString(),
    trades: candle.trades,
    reserveX: candle.reserveX.toString(),
    reserveY: candle.reserveY.toString(),
  }
}

/** Newest first. The cursor is a place on the chain, so new blocks do not shift it. */
export const listSwaps: Handler<'listSwaps'> = ({ chain }, { query }) => {
  const place = query.cursor === undefined ? undefined : cursorNumbers(query.cursor, 3)
  if (query.cursor !== undefined && (place === undefined || (place[1] ?? 0) > 0xffff || (place[2] ?? 0) > 0xff)) {
    return badCursor()
  }
  const [height, index, hop] = (place ?? []) as readonly number[]
  const before = height === undefined ? undefined : { height, index: index as number, hop: hop as number }
  const limit = pageLimit(query)
  return answerAtHead(chain, async () => {
    const row = query.pool === undefined ? undefined : poolNamed(chain, query.pool)
    if (query.pool !== undefined && row === undefined) return unknownPool(query.pool)
    const trades = await listTrades(chain, { poolId: row?.poolId, before, limit })
    const last = trades.length === limit ? (trades.at(-1) as Trade) : null
    return {
      indexedFrom: chain.database.indexedFrom,
      swaps: trades.map((trade) => tradeJson(chain, trade)),
      nextCursor: last && `${last.height}-${last.index}-${last.hop}`,
    }
  })
}

function tradeJson(chain: ChainReader, trade: Trade): Static<typeof SWAP> {
  const { txId, height, index, hop, timeMs, poolId, sender, assetIn, assetOut, amountIn, amountOut } = trade
  return {
    ...{ txId, height, index, hop, time: moment(timeMs), poolId },
    pool: poolNamed(chain, poolId)?.name ?? poolId,
    sender: addressText(chain.ruleBook.params.addressPrefix, sender),
    in: amountJson(recordedAsset(chain, assetIn), amountIn),
    out: assetAmountJson(chain, assetOut, amountOut),
  }
}

function unknownPool(pool: string): Fault {
  return fault('rpc/pool-not-found', { pool })
}
