import { type Static, Type } from 'typebox'
import { baseFeeAfter } from '../../../consensus/block/base-fee.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../../consensus/state/table.ts'
import { type DollarWay, dollarWays, type Spread, widestSpread } from '../../queries/arbitrage.ts'
import { coinOf, recordedAsset } from '../../queries/assets.ts'
import { dollarAsset } from '../../queries/prices.ts'
import { scaledDown } from '../../queries/ratio.ts'
import { ASSET_AMOUNT, assetAmount, orNull, UNKNOWN, usdPrice } from '../amounts.ts'
import { optionalContext } from '../context-names.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { CHANGE_PCT, changePct, pctOfPpm, sampleEnvelope } from '../figures.ts'
import { readAtHead } from '../reading.ts'
import { defineService } from '../service.ts'

const ID = 'node-arb-scan' as ServiceId
const NOTE =
  'Implied prices are spot prices before fees; sizes, gain and netPct are after the fees of the pools, in the dollar token, and hold for this block alone. It takes two swaps: profitable says whether the gain is more than transactionFees, the least that both burn.'
/** Weight of a one-pool swap by a single-key account that has sent before; more pools weigh more. */
const SWAP_WEIGHT = 3_841n
const BPS = 10_000

const WAY = Type.Object({
  pool: Type.String(),
  route: Type.Array(Type.String()),
  priceUsd: Type.Number({ exclusiveMinimum: 0 }),
})
const WIDEST = Type.Object({
  buyPool: Type.String(),
  sellPool: Type.String(),
  buyRoute: Type.Array(Type.String()),
  sellRoute: Type.Array(Type.String()),
  spreadPct: Type.Number({ minimum: 0 }),
  feesPct: Type.Number({ minimum: 0 }),
  netPct: CHANGE_PCT,
  profitable: Type.Boolean(),
  maxSizeBeforeZero: ASSET_AMOUNT,
  bestSize: ASSET_AMOUNT,
  gainAtBestSize: ASSET_AMOUNT,
  transactionFees: ASSET_AMOUNT,
})

/** Result fields, without the envelope. */
export const ARB_SCAN = {
  symbol: Type.String(),
  impliedPrices: Type.Array(WAY),
  widest: orNull(WIDEST),
  reason: orNull(Type.String()),
  note: Type.String(),
  unknown: UNKNOWN,
}
const FACTS = Type.Object(ARB_SCAN)

/** Call it within `atOneHead`. */
export async function arbScanFacts(chain: ChainReader): Promise<Static<typeof FACTS>> {
  const ways = await dollarWays(chain)
  const spread = widestSpread(chain, ways)
  return {
    symbol: coinOf(chain).symbol,
    impliedPrices: ways.map((way) => wayFacts(chain, way)),
    widest: spread && spreadFacts(chain, spread),
    reason: spread === null ? 'fewer than two ways to dollars that share no pool' : null,
    note: NOTE,
    unknown: spread === null ? ['widest'] : [],
  }
}

function wayFacts({ ruleBook }: ChainReader, { pools, price }: DollarWay): Static<typeof WAY> {
  const route = namesOf(pools)
  const coin = { decimals: ruleBook.params.decimals }
  return { pool: route[0] as string, route, priceUsd: usdPrice(coin, { microsPerUnit: price }) as number }
}

/** The least that two swaps in the next block burn, in base units of the native coin. */
function leastFees({ head: { header }, ruleBook }: ChainReader): bigint {
  return 2n * SWAP_WEIGHT * baseFeeAfter(header, ruleBook.at(header.height + 1).block)
}

function spreadFacts(chain: ChainReader, { buy, sell, netPpm, limits }: Spread): Static<typeof WIDEST> {
  const fees = leastFees(chain)
  const dollar = recordedAsset(chain, dollarAsset(chain))
  const [buyRoute, sellRoute] = [namesOf(buy.pools.toReversed()), namesOf(sell.pools)]
  return {
    buyPool: namesOf(buy.pools)[0] as string,
    sellPool: sellRoute[0] as string,
    buyRoute,
    sellRoute,
    spreadPct: changePct(sell.price, buy.price),
    feesPct: feesPct([...buy.pools, ...sell.pools]),
    netPct: pctOfPpm(netPpm),
    profitable: limits.bestGain > scaledDown(fees, buy.price),
    maxSizeBeforeZero: assetAmount(dollar, limits.maxSize),
    bestSize: assetAmount(dollar, limits.bestSize),
    gainAtBestSize: assetAmount(dollar, limits.bestGain),
    transactionFees: assetAmount(recordedAsset(chain, NATIVE_ASSET), fees),
  }
}

function namesOf(pools: DollarWay['pools']): string[] {
  return pools.map(({ name }) => name)
}

/** 100 (1 - product of (1 - fee)), truncated to 4 decimals. */
function feesPct(pools: DollarWay['pools']): number {
  const kept = pools.reduce((product, { pool }) => product * BigInt(BPS - pool.feeBps), 1n)
  const whole = BigInt(BPS) ** BigInt(pools.length)
  return pctOfPpm(((whole - kept) * 1_000_000n) / whole)
}

/** Differences of the native coin's price between pools. */
export const arbScan = defineService({
  serviceId: ID,
  name: 'Arbitrage scan',
  description:
    'Native price implied by every way to dollars over at most two pools, and the widest spread between two of them with fees, the best size and the largest size that comes back whole, searched on the exact curve.',
  brief: 'Finds the widest spread of the native price between pools, with fees and the best size.',
  words: 'arbitrage opportunity profit gap',
  capability: 'trading',
  priceUsdMicros: 20_000n,
  ...optionalContext(),
  sample: {
    ...sampleEnvelope(ID),
    symbol: 'FAR',
    impliedPrices: [
      { pool: 'FAR-SALT-30', route: ['FAR-SALT-30', 'FUSD-SALT-100'], priceUsd: 0.2999 },
      { pool: 'FAR-FUSD-30', route: ['FAR-FUSD-30'], priceUsd: 0.25 },
    ],
    widest: {
      buyPool: 'FAR-FUSD-30',
      sellPool: 'FAR-SALT-30',
      buyRoute: ['FAR-FUSD-30'],
      sellRoute: ['FAR-SALT-30', 'FUSD-SALT-100'],
      spreadPct: 19.96,
      feesPct: 1.5931,
      netPct: 18.0489,
      profitable: true,
      maxSizeBeforeZero: { symbol: 'FUSD', decimals: 6, amount: '191.20417' },
      bestSize: { symbol: 'FUSD', decimals: 6, amount: '91.651307' },
      gainAtBestSize: { symbol: 'FUSD', decimals: 6, amount: '7.923105' },
      transactionFees: { symbol: 'FAR', decimals: 8, amount: '0.00245824' },
    },
    reason: null,
    note: NOTE,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 32_768,
  repeatable: true,
  keptPerHead: true,
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: Type.Object({ ...CHAIN_ENVELOPE, ...ARB_SCAN }),
  execute: (_, context) => readAtHead(ID, context, () => arbScanFacts(context.chain)),
})
