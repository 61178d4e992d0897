import { type Static, Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { coinOf } from '../../queries/assets.ts'
import { type Market, readMarket } from '../../queries/market-pools.ts'
import { type MeanPrice, meanPriceSince, type NativeMarket, nativeMarket } from '../../queries/native-market.ts'
import { LOW_DEPTH, nativePrice } from '../../queries/prices.ts'
import { orNull, PRICE_DEPTH, priceDepth, SYMBOL, UNKNOWN, USD, usd, usdPrice } from '../amounts.ts'
import { optionalContext } from '../context-names.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import {
  CHANGE_PCT,
  changeAbs,
  changePct,
  POOL_HOLDINGS,
  PRICE,
  poolHoldings,
  SAMPLE_POOL,
  sampleEnvelope,
  unknownIn,
} from '../figures.ts'
import { readyWithDay } from '../readiness.ts'
import { readAtHead } from '../reading.ts'
import { defineService } from '../service.ts'

const ID = 'node-price-feed' as ServiceId
const HOUR_MS = 3_600_000
const LOW_BELOW_USD = usd(LOW_DEPTH)

/** Result fields, without the envelope. */
export const PRICE_FEED = {
  symbol: SYMBOL,
  priceUsd: PRICE,
  priceSource: orNull(POOL_HOLDINGS),
  change24hPct: orNull(CHANGE_PCT),
  change24hAbs: orNull(Type.Number()),
  changeSince: orNull(Type.String()),
  twap1h: orNull(
    Type.Object({
      priceUsd: Type.Number({ exclusiveMinimum: 0 }),
      fromHeight: Type.Integer({ minimum: 0 }),
      toHeight: Type.Integer({ minimum: 0 }),
    }),
  ),
  marketPriceUsd: PRICE,
  ...PRICE_DEPTH,
  lowBelowUsd: Type.Number(),
  tvlUsd: USD,
  volume24hUsd: USD,
  trades24h: Type.Integer({ minimum: 0 }),
  pools: Type.Object({ counted: Type.Integer(), unpriced: Type.Integer(), complete: Type.Boolean() }),
  unknown: UNKNOWN,
}
const FACTS = Type.Object(PRICE_FEED)

/** The market must have been read at the same head. */
export async function priceFeedFacts(chain: ChainReader, market: Market): Promise<Static<typeof FACTS>> {
  const native = await nativeMarket(chain)
  const coin = { decimals: chain.ruleBook.params.decimals }
  const facts = {
    ...spotFacts(native, coin),
    twap1h: meanFacts(meanPriceSince(chain, HOUR_MS), coin),
    marketPriceUsd: usdPrice(coin, nativePrice(chain).market ?? null),
    tvlUsd: usd(market.tvlUsdMicros),
    volume24hUsd: usd(market.volumeUsdMicros),
  }
  return {
    symbol: coinOf(chain).symbol,
    ...facts,
    lowBelowUsd: LOW_BELOW_USD,
    trades24h: market.trades,
    pools: { counted: market.pools.length, unpriced: market.unpriced, complete: market.complete },
    unknown: unknownIn(facts),
  }
}

const DOLLAR = { decimals: 6 }

function spotFacts(native: NativeMarket | null, coin: { readonly decimals: number }) {
  if (native === null) {
    const none = { priceUsd: null, priceSource: null, change24hPct: null, change24hAbs: null, changeSince: null }
    return { ...none, ...priceDepth(null) }
  }
  const { row, spot, before, sinceMs } = native
  return {
    priceUsd: usdPrice(coin, { microsPerUnit: spot }),
    priceSource: poolHoldings(row),
    change24hPct: before && changePct(spot, before),
    change24hAbs: before && changeAbs([spot, before], coin, DOLLAR),
    changeSince: before && new Date(sinceMs).toISOString(),
    ...priceDepth(native),
  }
}

function meanFacts(mean: MeanPrice | null, coin: { readonly decimals: number }) {
  if (mean === null) return null
  const { fromHeight, toHeight } = mean
  return { priceUsd: usdPrice(coin, { microsPerUnit: mean.mean }) as number, fromHeight, toHeight }
}

/** Price of the native coin. */
export const priceFeed = defineService({
  serviceId: ID,
  name: 'Price feed',
  description:
    'Live dollar price of the native coin from its deepest dollar pool, 24-hour change, mean of the last hour (blocks / sum of coins per dollar at their ends, as calls are charged), the price the market charges by, TVL, volume and pool trades (a swap over two pools is two).',
  brief: 'Gives the live dollar price of the native coin, with change, TVL and volume.',
  words: 'coin token worth far current quote',
  capability: 'pricing',
  priceUsdMicros: 6_000n,
  ...optionalContext(),
  sample: {
    ...sampleEnvelope(ID),
    symbol: 'FAR',
    priceUsd: 0.2561,
    priceSource: {
      id: SAMPLE_POOL,
      pool: 'FAR-FUSD-30',
      feePct: 0.3,
      reserves: [
        { symbol: 'FAR', decimals: 8, amount: '395210.5' },
        { symbol: 'FUSD', decimals: 6, amount: '101213.40905' },
      ],
    },
    change24hPct: 1.25,
    change24hAbs: 0.0032,
    changeSince: '2026-11-19T13:00:00.000Z',
    twap1h: { priceUsd: 0.2555, fromHeight: 11140, toHeight: 12345 },
    marketPriceUsd: 0.2558,
    depthUsd: 101213.40905,
    confidence: 'normal',
    lowBelowUsd: LOW_BELOW_USD,
    tvlUsd: 243900.25,
    volume24hUsd: 12800.5,
    trades24h: 81,
    pools: { counted: 3, unpriced: 0, complete: true },
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  keptPerHead: true,
  ready: readyWithDay,
  resultSchema: Type.Object({ ...CHAIN_ENVELOPE, ...PRICE_FEED }),
  execute: (_, context) =>
    readAtHead(ID, context, async () => priceFeedFacts(context.chain, await readMarket(context.chain))),
})
