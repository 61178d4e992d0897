import { Type } from 'typebox'
import { type Holding, holderCount, topHolders } from '../../../consensus/chain/holders.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { supplyOf } from '../../../consensus/ledger/supply.ts'
import type { Hash, ServiceId } from '../../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../../consensus/state/table.ts'
import { type AssetFacts, recordedAsset } from '../../queries/assets.ts'
import { concentrationOf } from '../../queries/distribution.ts'
import { SUPPLY_ENTRIES_MAX, supplyPlaces } from '../../queries/supply.ts'
import { amountText, DECIMAL_AMOUNT, orNull, PERCENT, percent, SYMBOL, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { NAME_CHARS_MAX, namedOn, nameFault, parseTokenOrPool } from '../named.ts'
import { EXCLUDED, excludedFrom } from '../places.ts'
import { readAtHead } from '../reading.ts'
import { defineService } from '../service.ts'

const ID = 'node-holder-stats' as ServiceId
const FORMAT = {
  requestFormat: 'token symbol, pool name (X-Y-fee) or pool id for its two tokens; empty for the native coin',
  example: 'FUSD',
}
/** Maximum holders over which concentration is computed. */
export const COVERED_HOLDERS_MAX = 10_000
const AT_ONCE = 1_000
const TOP = 10

const HOLDER = Type.Object({ address: Type.String(), amount: DECIMAL_AMOUNT, pct: PERCENT })

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  pool: orNull(Type.String()),
  tokens: Type.Array(
    Type.Object({
      symbol: SYMBOL,
      decimals: Type.Integer(),
      supply: DECIMAL_AMOUNT,
      holders: Type.Integer({ minimum: 0 }),
      top10: Type.Array(HOLDER, { maxItems: TOP }),
      top10Pct: orNull(PERCENT),
      largest: orNull(HOLDER),
      hhi: orNull(Type.Number({ minimum: 0, maximum: 10_000 })),
      gini: orNull(Type.Number({ minimum: 0, maximum: 1 })),
      coverage: Type.Object({
        holders: Type.Integer(),
        amount: DECIMAL_AMOUNT,
        amountPct: orNull(PERCENT),
        complete: Type.Boolean(),
      }),
      excluded: orNull(EXCLUDED),
      unknown: UNKNOWN,
    }),
    { minItems: 1, maxItems: 2 },
  ),
  basis: Type.Object({ pct: Type.String(), hhi: Type.String(), gini: Type.String() }),
  unknown: UNKNOWN,
})

const BASIS = {
  pct: '100 x amount / supply, pools, stakes, escrows and tabs included in the supply',
  hhi: 'sum of (100 x share)^2 over the covered holders, shares of what these hold together',
  gini: 'over the covered holders',
}

async function coveredHolders({ database }: ChainReader, asset: Hash): Promise<readonly Holding[]> {
  const holders: Holding[] = []
  while (holders.length < COVERED_HOLDERS_MAX) {
    const page = await topHolders(database, asset, AT_ONCE, holders.at(-1))
    holders.push(...page)
    if (page.length < AT_ONCE) break
  }
  return holders
}

async function tokenStats({ chain }: ServiceContext, asset: AssetFacts) {
  const { database, ruleBook } = chain
  const supply = supplyOf(database, asset.asset)
  const count = holderCount(database, asset.asset)
  const holders = await coveredHolders(chain, asset.asset)
  const sum = holders.reduce((total, { amount }) => total + amount, 0n)
  const concentration = concentrationOf(holders.map(({ amount }) => amount))
  const top10 = holders.slice(0, TOP).map(({ address, amount }) => ({
    address: formatAddress(ruleBook.params.addressPrefix, address),
    amount: amountText(asset, amount),
    pct: percent(amount, supply),
  }))
  const topSum = holders.slice(0, TOP).reduce((total, { amount }) => total + amount, 0n)
  const excluded = count < SUPPLY_ENTRIES_MAX ? excludedFrom(asset, await supplyPlaces(chain, asset.asset)) : null
  const complete = holders.length === count
  return {
    symbol: asset.symbol,
    decimals: asset.decimals,
    supply: amountText(asset, supply),
    holders: count,
    top10,
    top10Pct: supply === 0n ? null : percent(topSum, supply),
    largest: top10[0] ?? null,
    hhi: concentration && Number(concentration.hhiPpm) / 1e6,
    gini: concentration && Number(concentration.giniPpm) / 1e6,
    coverage: {
      holders: holders.length,
      amount: amountText(asset, sum),
      amountPct: supply === 0n ? null : percent(sum, supply),
      complete,
    },
    excluded,
    unknown: [
      ...(supply === 0n ? ['top10Pct', 'coverage.amountPct'] : []),
      ...(concentration === null ? ['hhi', 'gini', 'largest'] : []),
      ...(complete ? [] : ['hhi and gini of the holders beyond the covered ones']),
      ...(excluded === null ? ['excluded'] : []),
    ],
  }
}

async function stats(context: ServiceContext, name: string | null) {
  const { chain } = context
  const named = name === null ? undefined : namedOn(chain, name)
  const pool = named?.pool ?? null
  const tokens = []
  for (const asset of named?.assets ?? [recordedAsset(chain, NATIVE_ASSET)])
    tokens.push(await tokenStats(context, asset))
  return {
    pool: pool?.name ?? null,
    tokens,
    basis: BASIS,
    unknown: pool === null ? [] : ['holders of the pool shares'],
  }
}

/** Holders of a token, and how concentrated it is. */
export const holderStats = defineService<string | null, typeof RESULT>({
  serviceId: ID,
  name: 'Holder statistics',
  description:
    'Holder count, the ten largest wallets and their share of the supply, HHI and Gini over up to 10000 holders, and what no wallet holds (pools, stakes, escrows, tabs).',
  brief: 'Counts the holders of a token and tells the largest wallets and how concentrated it is.',
  words: 'distribution concentration rich list owners top holds owns most biggest fusd far',
  capability: 'analytics',
  priceUsdMicros: 20_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    pool: null,
    tokens: [
      {
        symbol: 'FUSD',
        decimals: 6,
        supply: '200000',
        holders: 2,
        top10: [
          {
            address: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
            amount: '80000',
            pct: 40,
          },
          {
            address: 'dfar1g2mtfqgx0gqm2g6l7xvvmnwca3e62wgdmsw9wrgu2lkwqm9qje7q5djuzz',
            amount: '20000',
            pct: 10,
          },
        ],
        top10Pct: 50,
        largest: {
          address: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
          amount: '80000',
          pct: 40,
        },
        hhi: 6800,
        gini: 0.3,
        coverage: { holders: 2, amount: '100000', amountPct: 50, complete: true },
        excluded: [{ place: 'inPools', amount: '100000' }],
        unknown: [],
      },
    ],
    basis: BASIS,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 32_768,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: NAME_CHARS_MAX,
  parse: (request) => parseTokenOrPool(request, FORMAT),
  check: (name, { chain }) => nameFault(chain, name, FORMAT),
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (name, context) => readAtHead(ID, context, () => stats(context, name)),
})
