import { type Static, Type } from 'typebox'
import { outputOf, priceImpactPpm } from '../../../amm/math.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { type Amount, mulDivDown } from '../../../consensus/primitives/amount.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../../consensus/state/table.ts'
import type { AssetFacts } from '../../queries/assets.ts'
import { type Market, readMarket } from '../../queries/market-pools.ts'
import { type PoolValues, poolValues } from '../../queries/pool-values.ts'
import { type PoolRow, poolsOf } from '../../queries/pools.ts'
import { PriceBook } from '../../queries/prices.ts'
import { ratio, times } from '../../queries/ratio.ts'
import { ASSET_AMOUNT, assetAmount, orNull, PERCENT, UNKNOWN, USD, usd, usdPrice } from '../amounts.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import {
  POOL_HOLDINGS,
  PRICE,
  pctOfPpm,
  poolHoldings,
  SAMPLE_POOL,
  sampleEnvelope,
  unknownIn,
  wholePrice,
} from '../figures.ts'
import { NAME_CHARS_MAX, namedOn, nameFault, parseTokenOrPool } from '../named.ts'
import { readyWithDay } from '../readiness.ts'
import { readAtHead } from '../reading.ts'
import { defineService } from '../service.ts'

const ID = 'node-pool-analytics' as ServiceId
const FORMAT = {
  requestFormat: 'token symbol, pool name as FAR-FUSD-30, or pool id; empty for the pools that hold most',
  example: 'FAR-FUSD-30',
}
/** Maximum pools in a result. */
export const ANALYSED_POOLS_MAX = 20
/** Trade sizes of the impact table, in thousandths of the reserve of the sold asset. */
const SIZES_PER_MILLE = [1n, 5n, 10n, 50n, 100n]
const APR_FORMULA = '100 x fees of 24 hours in dollars x 365 / TVL in dollars; an estimate from the past day'

const IMPACT = Type.Object({
  sizePct: Type.Number(),
  amountIn: ASSET_AMOUNT,
  amountOut: ASSET_AMOUNT,
  impactPct: orNull(Type.Number({ minimum: 0, maximum: 100 })),
})

const POOL = Type.Object({
  ...POOL_HOLDINGS.properties,
  priceYPerX: PRICE,
  priceXPerY: PRICE,
  priceNative: orNull(Type.Object({ symbol: Type.String(), price: Type.Number({ exclusiveMinimum: 0 }) })),
  priceUsd: Type.Array(Type.Object({ symbol: Type.String(), price: PRICE })),
  tvlUsd: USD,
  volume24hUsd: USD,
  fees24hUsd: USD,
  volume24h: Type.Array(ASSET_AMOUNT),
  fees24h: Type.Array(ASSET_AMOUNT),
  trades24h: Type.Integer({ minimum: 0 }),
  lpAprPct: orNull(PERCENT),
  impact: Type.Array(IMPACT),
  unknown: UNKNOWN,
})

/** Result fields, without the envelope. */
export const POOL_ANALYTICS = {
  lpAprFormula: Type.String(),
  impactRule: Type.String(),
  pools: Type.Array(POOL),
  complete: Type.Boolean(),
  unknown: UNKNOWN,
}
const FACTS = Type.Object(POOL_ANALYTICS)
const RESULT = Type.Object({ ...CHAIN_ENVELOPE, ...POOL_ANALYTICS })
const IMPACT_RULE =
  'price of the executed swap below the price before it, fee included; sold is the first reserve, the sizes are parts of it'

/** The market must have been read at the same head. */
export async function topPoolsFacts(chain: ChainReader, market: Market, count: number): Promise<Static<typeof FACTS>> {
  return factsOf(chain, market.pools.slice(0, count), market.complete && market.pools.length <= count)
}

async function namedFacts(chain: ChainReader, name: string): Promise<Static<typeof FACTS>> {
  const named = namedOn(chain, name)
  if (named === undefined) throw new Error(`there is no token or pool ${name} any more`)
  const [{ asset }] = named.assets as [AssetFacts]
  const rows = named.pool === null ? await poolsOf(chain, asset, ANALYSED_POOLS_MAX + 1) : [named.pool]
  const values: PoolValues[] = []
  for (const row of rows.slice(0, ANALYSED_POOLS_MAX)) values.push(await poolValues(chain, row))
  return factsOf(chain, values, rows.length <= ANALYSED_POOLS_MAX)
}

async function factsOf(
  chain: ChainReader,
  values: readonly PoolValues[],
  complete: boolean,
): Promise<Static<typeof FACTS>> {
  const pools: Static<typeof POOL>[] = []
  for (const value of values) pools.push(await poolFacts(chain, value))
  const unknown = pools.flatMap((pool) => pool.unknown.map((field) => `${pool.pool}.${field}`))
  return { lpAprFormula: APR_FORMULA, impactRule: IMPACT_RULE, pools, complete, unknown }
}

async function poolFacts(chain: ChainReader, values: PoolValues): Promise<Static<typeof POOL>> {
  const { row, day } = values
  const { x, y, pool } = row
  const known = {
    priceNative: await priceNative(chain, row),
    tvlUsd: usd(values.tvlUsdMicros),
    volume24hUsd: usd(values.volumeUsdMicros),
    fees24hUsd: usd(values.feesUsdMicros),
    lpAprPct: values.aprPpm === null ? null : pctOfPpm(values.aprPpm),
  }
  const priceUsd = await Promise.all([x, y].map((asset) => dollarPrice(chain, asset)))
  return {
    ...poolHoldings(row),
    priceYPerX: wholePrice(ratio(pool.reserveY, pool.reserveX), x, y),
    priceXPerY: wholePrice(ratio(pool.reserveX, pool.reserveY), y, x),
    ...known,
    priceUsd,
    volume24h: [assetAmount(x, day.volumeX), assetAmount(y, day.volumeY)],
    fees24h: [assetAmount(x, day.feesX), assetAmount(y, day.feesY)],
    trades24h: day.trades,
    impact: SIZES_PER_MILLE.map((size) => impactOf(row, size)),
    unknown: [
      ...unknownIn(known),
      ...priceUsd.flatMap(({ symbol, price }) => (price === null ? [`priceUsd.${symbol}`] : [])),
    ],
  }
}

async function dollarPrice(chain: ChainReader, asset: AssetFacts) {
  return { symbol: asset.symbol, price: usdPrice(asset, await PriceBook.of(chain).priceOf(asset.asset)) }
}

/** Native coins per whole unit of the pool's other asset; of X if neither asset is the native coin. */
async function priceNative(chain: ChainReader, { x, y, pool }: PoolRow) {
  const coin = { decimals: chain.ruleBook.params.decimals }
  if (x.asset === NATIVE_ASSET) {
    return { symbol: y.symbol, price: wholePrice(ratio(pool.reserveX, pool.reserveY), y, coin) }
  }
  const book = PriceBook.of(chain)
  const [price, native] = await Promise.all([book.priceOf(x.asset), book.priceOf(NATIVE_ASSET)])
  if (price === null || native === null || native.microsPerUnit.numerator === 0n) return null
  const { numerator, denominator } = native.microsPerUnit
  return { symbol: x.symbol, price: wholePrice(times(price.microsPerUnit, ratio(denominator, numerator)), x, coin) }
}

function impactOf({ x, y, pool }: PoolRow, perMille: bigint): Static<typeof IMPACT> {
  const { reserveX, reserveY, feeBps } = pool
  const amountIn = mulDivDown(reserveX, perMille, 1_000n) as Amount
  const amountOut = outputOf(reserveX, reserveY, amountIn, BigInt(feeBps))
  return {
    sizePct: Number(perMille) / 10,
    amountIn: assetAmount(x, amountIn),
    amountOut: assetAmount(y, amountOut),
    impactPct: amountIn === 0n ? null : pctOfPpm(priceImpactPpm(reserveX, reserveY, amountIn, amountOut)),
  }
}

/** Reserves, volume, yield and depth of pools. */
export const poolAnalytics = defineService<string | null, typeof RESULT>({
  serviceId: ID,
  name: 'Pool analytics',
  description:
    'Reserves, prices, TVL, 24-hour volume and fees, LP APR estimate with its formula, and a five-size price-impact table of each pool.',
  brief: 'Gives reserves, TVL, volume, LP APR and price impact of liquidity pools.',
  words: 'yield slippage amm provider',
  capability: 'analytics',
  priceUsdMicros: 15_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    lpAprFormula: APR_FORMULA,
    impactRule: IMPACT_RULE,
    pools: [
      {
        id: SAMPLE_POOL,
        pool: 'FAR-FUSD-30',
        feePct: 0.3,
        reserves: [
          { symbol: 'FAR', decimals: 8, amount: '400000' },
          { symbol: 'FUSD', decimals: 6, amount: '100000' },
        ],
        priceYPerX: 0.25,
        priceXPerY: 4,
        priceNative: { symbol: 'FUSD', price: 4 },
        priceUsd: [
          { symbol: 'FAR', price: 0.25 },
          { symbol: 'FUSD', price: 1 },
        ],
        tvlUsd: 200000,
        volume24hUsd: 11200,
        fees24hUsd: 33.6,
        volume24h: [
          { symbol: 'FAR', decimals: 8, amount: '44800' },
          { symbol: 'FUSD', decimals: 6, amount: '11200' },
        ],
        fees24h: [
          { symbol: 'FAR', decimals: 8, amount: '134.4' },
          { symbol: 'FUSD', decimals: 6, amount: '0' },
        ],
        trades24h: 70,
        lpAprPct: 6.132,
        impact: [
          {
            sizePct: 0.1,
            amountIn: { symbol: 'FAR', decimals: 8, amount: '400' },
            amountOut: { symbol: 'FUSD', decimals: 6, amount: '99.600698' },
            impactPct: 0.3994,
          },
        ],
        unknown: [],
      },
    ],
    complete: true,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 131_072,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: NAME_CHARS_MAX,
  parse: (request) => parseTokenOrPool(request, FORMAT),
  check: (name, { chain }) => nameFault(chain, name, FORMAT),
  ready: readyWithDay,
  resultSchema: RESULT,
  execute: (name, context) =>
    readAtHead(ID, context, async () =>
      name === null
        ? topPoolsFacts(context.chain, await readMarket(context.chain), ANALYSED_POOLS_MAX)
        : namedFacts(context.chain, name),
    ),
})
