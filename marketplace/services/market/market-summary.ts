import { type Static, Type } from 'typebox'
import { priceImpactPpm } from '../../../amm/math.ts'
import type { Trade } from '../../../amm/trades.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { coinOf, recordedAsset } from '../../queries/assets.ts'
import { knownFromHour } from '../../queries/known-past.ts'
import { type Market, readMarket } from '../../queries/market-pools.ts'
import { nativeMarket } from '../../queries/native-market.ts'
import type { PoolValues } from '../../queries/pool-values.ts'
import { poolNamed } from '../../queries/pools.ts'
import { listTrades } from '../../queries/trading.ts'
import { amountText, DECIMAL_AMOUNT, orNull, SYMBOL, UNKNOWN, USD, usd, usdPrice } from '../amounts.ts'
import { optionalContext } from '../context-names.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import {
  CHANGE_PCT,
  changePct,
  POOL_NAME,
  PRICE,
  pctOfPpm,
  poolName,
  SAMPLE_POOL,
  sampleEnvelope,
  unknownIn,
} from '../figures.ts'
import { readyWithDay } from '../readiness.ts'
import { readAtHead } from '../reading.ts'
import { defineService } from '../service.ts'

const ID = 'node-market-summary' as ServiceId
const TOP_POOLS = 5
const LATEST_SWAPS = 10

const SWAP = Type.Object({
  txId: Type.String(),
  height: Type.Integer(),
  time: Type.String(),
  pool: Type.String(),
  from: SYMBOL,
  to: SYMBOL,
  amountIn: DECIMAL_AMOUNT,
  amountOut: DECIMAL_AMOUNT,
  priceImpactPct: Type.Number({ minimum: 0, maximum: 100 }),
})

/** Result fields, without the envelope. */
export const MARKET_SUMMARY = {
  price: Type.Object({
    symbol: SYMBOL,
    usd: PRICE,
    pool: orNull(Type.String()),
    change24hPct: orNull(CHANGE_PCT),
  }),
  tvlUsd: USD,
  volume24hUsd: USD,
  trades24h: Type.Integer({ minimum: 0 }),
  poolsCounted: Type.Integer({ minimum: 0 }),
  poolsUnpriced: Type.Integer({ minimum: 0 }),
  poolsComplete: Type.Boolean(),
  topPools: Type.Array(
    Type.Object({
      ...POOL_NAME,
      tokens: Type.Array(SYMBOL),
      tvlUsd: USD,
      volume24hUsd: USD,
      trades24h: Type.Integer(),
    }),
  ),
  latestSwaps: Type.Array(SWAP),
  unknown: UNKNOWN,
}
const FACTS = Type.Object(MARKET_SUMMARY)

/** The market must have been read at the same head. */
export async function marketSummaryFacts(chain: ChainReader, market: Market): Promise<Static<typeof FACTS>> {
  const native = await nativeMarket(chain)
  const price = {
    usd: usdPrice({ decimals: chain.ruleBook.params.decimals }, native && { microsPerUnit: native.spot }),
    pool: native?.row.name ?? null,
    change24hPct: native?.before ? changePct(native.spot, native.before) : null,
  }
  const sums = { tvlUsd: usd(market.tvlUsdMicros), volume24hUsd: usd(market.volumeUsdMicros) }
  const latestSwaps = await swapsOf(chain)
  return {
    price: { symbol: coinOf(chain).symbol, ...price },
    ...sums,
    trades24h: market.trades,
    poolsCounted: market.pools.length,
    poolsUnpriced: market.unpriced,
    poolsComplete: market.complete,
    topPools: market.pools.slice(0, TOP_POOLS).map(topPool),
    latestSwaps,
    unknown: [
      ...unknownIn(price).map((name) => `price.${name}`),
      ...unknownIn(sums),
      ...(latestSwaps.length < LATEST_SWAPS && knownFromHour(chain) > 0 ? ['latestSwaps before those listed'] : []),
    ],
  }
}

function topPool({ row, day, tvlUsdMicros, volumeUsdMicros }: PoolValues) {
  return {
    ...poolName(row),
    tokens: [row.x.symbol, row.y.symbol],
    tvlUsd: usd(tvlUsdMicros),
    volume24hUsd: usd(volumeUsdMicros),
    trades24h: day.trades,
  }
}

async function swapsOf(chain: ChainReader): Promise<Static<typeof SWAP>[]> {
  const trades = await listTrades(chain, { limit: LATEST_SWAPS })
  return trades.map((trade) => swapFacts(chain, trade))
}

function swapFacts(chain: ChainReader, trade: Trade): Static<typeof SWAP> {
  const { txId, height, timeMs, poolId, assetIn, assetOut, amountIn, amountOut, reserveIn, reserveOut } = trade
  const [from, to] = [recordedAsset(chain, assetIn), recordedAsset(chain, assetOut)]
  return {
    ...{ txId, height, time: new Date(timeMs).toISOString() },
    pool: poolNamed(chain, poolId)?.name ?? poolId,
    from: from.symbol,
    to: to.symbol,
    amountIn: amountText(from, amountIn),
    amountOut: amountText(to, amountOut),
    priceImpactPct: pctOfPpm(priceImpactPpm(reserveIn, reserveOut, amountIn, amountOut)),
  }
}

/** Overview of the market. */
export const marketSummary = defineService({
  serviceId: ID,
  name: 'Market summary',
  description:
    'Native price with its 24-hour change, TVL, 24-hour volume and pool trades (a swap over two pools is two) of all priced pools, the five top pools and the ten latest pool trades.',
  brief: 'Gives the native price, TVL, 24-hour volume, the top pools and the latest swaps.',
  words: 'overview trading liquidity dex',
  capability: 'market-data',
  priceUsdMicros: 15_000n,
  ...optionalContext(),
  sample: {
    ...sampleEnvelope(ID),
    price: { symbol: 'FAR', usd: 0.2561, pool: 'FAR-FUSD-30', change24hPct: 1.25 },
    tvlUsd: 243900.25,
    volume24hUsd: 12800.5,
    trades24h: 81,
    poolsCounted: 3,
    poolsUnpriced: 0,
    poolsComplete: true,
    topPools: [
      {
        id: SAMPLE_POOL,
        pool: 'FAR-FUSD-30',
        feePct: 0.3,
        tokens: ['FAR', 'FUSD'],
        tvlUsd: 202426.81,
        volume24hUsd: 11200,
        trades24h: 70,
      },
    ],
    latestSwaps: [
      {
        txId: '4f2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
        height: 12341,
        time: '2026-11-20T11:59:46.500Z',
        pool: 'FAR-FUSD-30',
        from: 'FAR',
        to: 'FUSD',
        amountIn: '900',
        amountOut: '229.29',
        priceImpactPct: 0.5275,
      },
    ],
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 32_768,
  repeatable: true,
  keptPerHead: true,
  ready: readyWithDay,
  resultSchema: Type.Object({ ...CHAIN_ENVELOPE, ...MARKET_SUMMARY }),
  execute: (_, context) =>
    readAtHead(ID, context, async () => marketSummaryFacts(context.chain, await readMarket(context.chain))),
})
