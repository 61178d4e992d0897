import { Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { parseAddress } from '../../../consensus/crypto/address.ts'
import type { Address, ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { type Holdings, holdingsOf, type Valued } from '../../queries/accounts.ts'
import {
  ASSET_AMOUNT,
  assetAmount,
  orNull,
  PRICE_DEPTH,
  priceDepth,
  SYMBOL,
  UNKNOWN,
  USD,
  usd,
  usdPrice,
} from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readAtHead } from '../reading.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-wallet-portfolio' as ServiceId
const FORMAT = {
  requestFormat: 'address of this chain, as text',
  example: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
}
const REQUEST_CHARS_MAX = 200

const VALUED = Type.Object({
  ...ASSET_AMOUNT.properties,
  priceUsd: USD,
  priceBasis: orNull(Type.String()),
  ...PRICE_DEPTH,
  valueUsd: USD,
})

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  address: Type.String(),
  exists: Type.Boolean(),
  balance: VALUED,
  staked: Type.Array(
    Type.Object({
      stakeId: Type.String(),
      tier: Type.Integer(),
      amount: ASSET_AMOUNT,
      pendingReward: ASSET_AMOUNT,
      unlocksAt: Type.Integer(),
      unlocked: Type.Boolean(),
    }),
  ),
  totalStaked: VALUED,
  pendingRewards: VALUED,
  inTabs: VALUED,
  lp: Type.Array(
    Type.Object({
      pool: Type.String(),
      poolId: Type.String(),
      shares: Type.String({ pattern: '^[0-9]+$' }),
      underlying: Type.Array(VALUED, { minItems: 2, maxItems: 2 }),
      valueUsd: USD,
    }),
  ),
  tokens: Type.Array(VALUED),
  totalUsd: Type.Number({ minimum: 0 }),
  unpriced: Type.Array(SYMBOL),
  truncated: Type.Object({
    tokens: Type.Boolean(),
    positions: Type.Boolean(),
    stakes: Type.Boolean(),
    tabs: Type.Boolean(),
  }),
  unknown: UNKNOWN,
})

/** `check` reads the address, since its prefix depends on the network of the chain. */
function parse(request: string): Result<string> {
  const text = request.trim()
  return text === '' ? unusable('an address is missing', FORMAT) : ok(text)
}

function addressIn({ ruleBook }: ChainReader, text: string): Result<Address> {
  return parseAddress(ruleBook.params.addressPrefix, text)
}

function valuedJson({ asset, amount, price, valueUsdMicros }: Valued) {
  return {
    ...assetAmount(asset, amount),
    priceUsd: usdPrice(asset, price),
    priceBasis: price?.basis ?? null,
    ...priceDepth(price),
    valueUsd: usd(valueUsdMicros),
  }
}

function stakesJson({ stakes, native: { asset } }: Holdings) {
  return stakes.map(({ stakeId, stake, pending, unlocked }) => ({
    stakeId,
    tier: stake.tier,
    amount: assetAmount(asset, stake.amount),
    pendingReward: assetAmount(asset, pending),
    unlocksAt: stake.unlocksAt,
    unlocked,
  }))
}

async function portfolio({ chain }: ServiceContext, text: string) {
  const address = addressIn(chain, text)
  if (!address.ok) throw new Error('the address was checked before')
  const held = await holdingsOf(chain, address.value)
  const { unpriced, truncated } = held
  return {
    address: text,
    exists: held.exists,
    balance: valuedJson(held.native),
    staked: stakesJson(held),
    totalStaked: valuedJson(held.staked),
    pendingRewards: valuedJson(held.pendingRewards),
    inTabs: valuedJson(held.inTabs),
    lp: held.positions.map(({ row, shares, x, y, valueUsdMicros }) => ({
      pool: row.name,
      poolId: row.poolId,
      shares: shares.toString(),
      underlying: [valuedJson(x), valuedJson(y)],
      valueUsd: usd(valueUsdMicros),
    })),
    tokens: held.tokens.map(valuedJson),
    totalUsd: usd(held.totalUsdMicros),
    unpriced: [...unpriced],
    truncated: { ...truncated },
    unknown: [
      ...unpriced.map((symbol) => `value of ${symbol}`),
      ...Object.entries(truncated).flatMap(([what, more]) => (more ? [`further ${what}`] : [])),
    ],
  }
}

const COIN = { symbol: 'FAR', decimals: 8 }
const PRICED = { priceUsd: 0.25, priceBasis: 'epoch', depthUsd: 100000, confidence: 'normal' }

/** What an address holds, valued at the head. */
export const walletPortfolio = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Wallet portfolio',
  description:
    'Balance, stakes with pending rewards, coins locked in open tabs, pool positions with underlying amounts, tokens, prices and total in dollars. What pools price counts for at most what they hold (depthUsd), below 10000 dollars with confidence low; what has no price is listed, never counted as 0.',
  brief: 'Values an address: balance, stakes, pool positions and tokens, in dollars.',
  words: 'holdings account net worth assets',
  capability: 'portfolio',
  priceUsdMicros: 12_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    address: FORMAT.example,
    exists: true,
    balance: { ...COIN, amount: '1200.5', ...PRICED, valueUsd: 300.125 },
    staked: [
      {
        stakeId: '4f2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
        tier: 1,
        amount: { ...COIN, amount: '400' },
        pendingReward: { ...COIN, amount: '0.75' },
        unlocksAt: 99000,
        unlocked: false,
      },
    ],
    totalStaked: { ...COIN, amount: '400', ...PRICED, valueUsd: 100 },
    pendingRewards: { ...COIN, amount: '0.75', ...PRICED, valueUsd: 0.1875 },
    inTabs: { ...COIN, amount: '10', ...PRICED, valueUsd: 2.5 },
    lp: [
      {
        pool: 'FAR-FUSD-30',
        poolId: '7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e89f2c4b1a',
        shares: '20000000000',
        underlying: [
          { ...COIN, amount: '400', ...PRICED, valueUsd: 100 },
          {
            ...{ symbol: 'FUSD', decimals: 6, amount: '100', priceUsd: 1, priceBasis: 'unit' },
            ...{ depthUsd: null, confidence: 'normal', valueUsd: 100 },
          },
        ],
        valueUsd: 200,
      },
    ],
    tokens: [
      {
        ...{ symbol: 'GLASS', decimals: 2, amount: '50', priceUsd: null, priceBasis: null },
        ...{ depthUsd: null, confidence: null, valueUsd: null },
      },
    ],
    totalUsd: 602.8125,
    unpriced: ['GLASS'],
    truncated: { tokens: false, positions: false, stakes: false, tabs: false },
    unknown: ['value of GLASS'],
  },
  timeoutMs: 2_000,
  resultBytesMax: 262_144,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (text, { chain }) => {
    const address = addressIn(chain, text)
    return address.ok ? null : refusal(`not an address of this network: ${reasonOf(address.fault.detail)}`, FORMAT)
  },
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (text, context) => readAtHead(ID, context, () => portfolio(context, text)),
})

function reasonOf(detail: Readonly<Record<string, unknown>>): string {
  return detail.reason === undefined ? `it begins with ${detail.got}` : String(detail.reason)
}
