import { type Static, Type } from 'typebox'
import { type HourlyCandle, hourOf } from '../../../amm/candles.ts'
import { PRICE_ONE } from '../../../amm/math.ts'
import { POOLS } from '../../../amm/pool.ts'
import { pricedPoolId } from '../../../amm/price-entries.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../../consensus/state/table.ts'
import type { AssetFacts } from '../../queries/assets.ts'
import { knownFromHour } from '../../queries/known-past.ts'
import { type PoolRow, poolRow, poolsOf } from '../../queries/pools.ts'
import { ratio } from '../../queries/ratio.ts'
import { hourNow, listCandles, startOfHour } from '../../queries/trading.ts'
import { amountText, DECIMAL_AMOUNT, orNull, UNKNOWN } from '../amounts.ts'
import { entryAt } from '../chain/chain-statistics.ts'
import { parseContextName } from '../context-names.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { POOL_NAME, poolName, SAMPLE_POOL, sampleEnvelope, wholePrice } from '../figures.ts'
import { namedOn, nameFault } from '../named.ts'
import { readyWithHour } from '../readiness.ts'
import { readAtHead } from '../reading.ts'
import { CONTEXT_CHARS_MAX } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-price-history' as ServiceId
const FORMAT = {
  requestFormat: '[token symbol, pool name as FAR-FUSD-30, or pool id]; empty for the pool that prices the native coin',
  example: 'FAR-FUSD-30',
}
/** Hours of the window, including the current, unfinished one. */
export const HISTORY_HOURS = 168

const CANDLE = Type.Object({
  t: Type.String(),
  o: Type.Number({ exclusiveMinimum: 0 }),
  h: Type.Number({ exclusiveMinimum: 0 }),
  l: Type.Number({ exclusiveMinimum: 0 }),
  c: Type.Number({ exclusiveMinimum: 0 }),
  volume: DECIMAL_AMOUNT,
  volumeQuote: DECIMAL_AMOUNT,
  trades: Type.Integer({ minimum: 1 }),
})
const GAP = Type.Object({
  from: Type.String(),
  to: Type.String(),
  hours: Type.Integer({ minimum: 1 }),
  reason: Type.Literal('no-trade'),
})

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  source: Type.Literal('executed swaps'),
  pool: orNull(Type.Object(POOL_NAME)),
  base: orNull(Type.String()),
  quote: orNull(Type.String()),
  window: orNull(Type.Object({ from: Type.String(), to: Type.String(), hours: Type.Integer({ minimum: 1 }) })),
  candles: Type.Array(CANDLE),
  gaps: Type.Array(GAP),
  reason: orNull(Type.String()),
  unknown: UNKNOWN,
})

/** A pool, and which of its assets is priced. */
interface Pair {
  readonly row: PoolRow
  readonly baseIsX: boolean
}

async function pairOf(chain: ChainReader, name: string | null): Promise<Pair | null> {
  if (name === null) return pricedPair(chain)
  const named = namedOn(chain, name)
  if (named === undefined) throw new Error(`there is no token or pool ${name}`)
  if (named.pool) return { row: named.pool, baseIsX: true }
  const [asset] = named.assets
  if (asset === undefined || asset.asset === NATIVE_ASSET) return pricedPair(chain)
  const [row] = await poolsOf(chain, asset.asset, 1)
  return row === undefined ? null : { row, baseIsX: row.x.asset === asset.asset }
}

function pricedPair(chain: ChainReader): Pair | null {
  const { ruleBook, head, database } = chain
  const poolId = pricedPoolId(ruleBook.at(head.header.height).market)
  const pool = database.get(POOLS, poolId)
  return pool === undefined ? null : { row: poolRow(chain, poolId, pool), baseIsX: true }
}

/**
 * Not before the pool, block 1 (the first whose time a miner set), or the hour from which all trades are known here.
 */
function firstHour(chain: ChainReader, { pool }: PoolRow): number {
  const top = chain.head.header.height
  const { timeMs } = entryAt(chain, Math.min(top, Math.max(1, pool.createdAt))).header
  return Math.max(hourNow(chain) + 1 - HISTORY_HOURS, hourOf(timeMs), knownFromHour(chain))
}

const NO_POOL = { pool: null, base: null, quote: null, window: null, candles: [], gaps: [] }

async function history(chain: ChainReader, name: string | null) {
  const source = 'executed swaps' as const
  const pair = await pairOf(chain, name)
  if (pair === null) {
    return { source, ...NO_POOL, reason: 'there is no such pool on this chain yet', unknown: ['candles'] }
  }
  const { row, baseIsX } = pair
  const [from, to] = [firstHour(chain, row), hourNow(chain) + 1]
  const changed = await listCandles(chain, { poolId: row.poolId, from, to, limit: HISTORY_HOURS })
  const traded = changed.filter(({ trades }) => trades > 0)
  const [base, quote] = baseIsX ? [row.x, row.y] : [row.y, row.x]
  return {
    source,
    pool: poolName(row),
    base: base.symbol as string,
    quote: quote.symbol as string,
    window: { from: hourText(from), to: hourText(to), hours: to - from },
    candles: traded.map((candle) => candleFacts(candle, base, quote, baseIsX)),
    gaps: gapsOf(traded, from, to),
    reason: null,
    unknown: from === knownFromHour(chain) ? [`candles before ${hourText(from)}`] : [],
  }
}

function candleFacts(
  { hour, open, high, low, close, trades, ...sums }: HourlyCandle,
  base: AssetFacts,
  quote: AssetFacts,
  baseIsX: boolean,
): Static<typeof CANDLE> {
  // Inverting a price turns the highest of one asset into the lowest of the other.
  const price = (value: bigint): number =>
    wholePrice(baseIsX ? ratio(value, PRICE_ONE) : ratio(PRICE_ONE, value), base, quote)
  const [volume, volumeQuote] = baseIsX ? [sums.volumeX, sums.volumeY] : [sums.volumeY, sums.volumeX]
  return {
    t: hourText(hour),
    o: price(open),
    h: price(baseIsX ? high : low),
    l: price(baseIsX ? low : high),
    c: price(close),
    volume: amountText(base, volume),
    volumeQuote: amountText(quote, volumeQuote),
    trades,
  }
}

/** Adjacent hours without a trade are joined. */
function gapsOf(traded: readonly HourlyCandle[], from: number, to: number): Static<typeof GAP>[] {
  const hours = [...traded.map(({ hour }) => hour), to]
  return hours.flatMap((hour, i) => {
    const start = i === 0 ? from : (hours[i - 1] as number) + 1
    if (hour <= start) return []
    return [{ from: hourText(start), to: hourText(hour), hours: hour - start, reason: 'no-trade' as const }]
  })
}

function hourText(hour: number): string {
  return new Date(startOfHour(hour)).toISOString()
}

/** Hourly candles of a pool. */
export const priceHistory = defineService<string | null, typeof RESULT>({
  serviceId: ID,
  name: 'Price history',
  description:
    'Hourly OHLC candles from what executed swaps really paid, of the last 168 hours or, where it is younger, since the pool or the first block (window); hours of it without a trade are listed (gaps). Of the pool that prices the native coin, or of the one that the request names (as FAR-FUSD-30, by id, or by a token).',
  brief: 'Gives hourly price candles of at most the last 168 hours from executed swaps.',
  words: 'chart ohlc past week trend historical',
  capability: 'oracle',
  priceUsdMicros: 15_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    source: 'executed swaps',
    pool: { id: SAMPLE_POOL, pool: 'FAR-FUSD-30', feePct: 0.3 },
    base: 'FAR',
    quote: 'FUSD',
    window: { from: '2026-11-20T10:00:00.000Z', to: '2026-11-20T12:00:00.000Z', hours: 2 },
    candles: [
      {
        t: '2026-11-20T10:00:00.000Z',
        o: 0.2487,
        h: 0.2523,
        l: 0.2487,
        c: 0.2519,
        volume: '10812.5',
        volumeQuote: '2700.04',
        trades: 12,
      },
    ],
    gaps: [{ from: '2026-11-20T11:00:00.000Z', to: '2026-11-20T12:00:00.000Z', hours: 1, reason: 'no-trade' }],
    reason: null,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 65_536,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: CONTEXT_CHARS_MAX,
  parse: (request) => parseContextName(request, FORMAT),
  check: (name, { chain }) => nameFault(chain, name, FORMAT),
  ready: readyWithHour,
  resultSchema: RESULT,
  execute: (name, context) => readAtHead(ID, context, () => history(context.chain, name)),
})
