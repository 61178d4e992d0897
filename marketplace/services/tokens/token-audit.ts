import { type Static, Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { assetNamed } from '../../queries/assets.ts'
import { type Collateral, type CollateralPart, collateralOf } from '../../queries/collateral.ts'
import { isMintable, RISKS, riskFlags, scoreOf, type TokenDepth, tokenRecord } from '../../queries/token-risks.ts'
import { type AssetRow, assetRow } from '../../queries/tokens.ts'
import {
  ASSET_AMOUNT,
  amountText,
  assetAmount,
  DECIMAL_AMOUNT,
  orNull,
  PERCENT,
  percent,
  SYMBOL,
  UNKNOWN,
  USD,
  usd,
} from '../amounts.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { POOL_NAME, poolName, SAMPLE_POOL, sampleEnvelope, unknownIn } from '../figures.ts'
import { noToken } from '../named.ts'
import { readAtHead } from '../reading.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-token-audit' as ServiceId
const FORMAT = { requestFormat: 'token symbol, 2 to 12 letters and digits', example: 'FUSD' }
const REQUEST_CHARS_MAX = 40
const FORMULA = '100 less the points of every risk flag, at least 0'
const NOT_BACKED = 'not a backed token'

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  token: Type.Object({
    symbol: SYMBOL,
    name: Type.String(),
    decimals: Type.Integer({ minimum: 0, maximum: 18 }),
    kind: Type.String(),
    issuer: orNull(Type.String()),
    createdHeight: Type.Integer({ minimum: 0 }),
    supply: DECIMAL_AMOUNT,
    maxSupply: orNull(DECIMAL_AMOUNT),
  }),
  collateral: Type.Object({
    backingPct: orNull(PERCENT),
    method: orNull(Type.String()),
    reason: orNull(Type.String()),
    reserves: Type.Array(Type.Object({ ...ASSET_AMOUNT.properties, heldIn: Type.String(), status: Type.String() })),
  }),
  flags: Type.Object({
    frozen: Type.Boolean(),
    hidden: Type.Boolean(),
    mintable: Type.Boolean(),
    issuerCanFreeze: Type.Boolean(),
  }),
  holders: Type.Integer({ minimum: 0 }),
  topHolderPct: orNull(PERCENT),
  pools: Type.Array(Type.Object({ ...POOL_NAME, depthNative: orNull(DECIMAL_AMOUNT), depthUsd: USD })),
  riskFlags: Type.Array(
    Type.Object({ code: Type.String(), severity: Type.String(), points: Type.Integer(), evidence: Type.String() }),
  ),
  score: Type.Integer({ minimum: 0, maximum: 100 }),
  scoring: Type.Object({
    formula: Type.String(),
    weights: Type.Array(Type.Object({ code: Type.String(), severity: Type.String(), points: Type.Integer() })),
  }),
  unknown: UNKNOWN,
})

const SCORING = { formula: FORMULA, weights: Object.entries(RISKS).map(([code, risk]) => ({ code, ...risk })) }

function parse(request: string): Result<string> {
  const symbol = request.trim().toUpperCase()
  return /^[A-Z0-9]{2,12}$/.test(symbol) ? ok(symbol) : unusable('not a token symbol', FORMAT)
}

async function audit(chain: ChainReader, symbol: string) {
  const row = assetRow(chain, symbol)
  if (row === undefined) throw new Error(`there is no token ${symbol} any more`)
  const collateral = collateralOf(chain, row)
  const record = await tokenRecord(chain, row, collateral)
  const flags = riskFlags(chain, record)
  const backing = collateralFacts(row, collateral)
  const topHolderPct = record.largest === null ? null : percent(record.largest, row.supply)
  const pools = record.pools.map((depth) => depthFacts(chain, depth))
  return {
    token: tokenFacts(chain, row),
    collateral: backing,
    flags: {
      frozen: row.frozen,
      hidden: row.hidden,
      mintable: isMintable(row),
      issuerCanFreeze: row.freezable && row.issuer !== null,
    },
    holders: row.holders,
    topHolderPct,
    pools,
    riskFlags: [...flags],
    score: scoreOf(flags),
    scoring: SCORING,
    unknown: [
      ...(collateral?.backingBps === null ? ['collateral.backingPct'] : []),
      ...unknownIn({ topHolderPct }),
      ...pools.flatMap(({ pool, depthUsd }) => (depthUsd === null ? [`pools.${pool}.depthUsd`] : [])),
      ...(record.namesakes.complete ? [] : ['look-alikes beyond the names compared']),
    ],
  }
}

function tokenFacts(chain: ChainReader, row: AssetRow) {
  const { symbol, name, decimals, kind, issuer, createdAt, supply, maxSupply } = row
  return {
    ...{ symbol: symbol as string, name, decimals, kind: kind as string },
    issuer: issuer && formatAddress(chain.ruleBook.params.addressPrefix, issuer),
    createdHeight: createdAt,
    supply: amountText(row, supply),
    maxSupply: maxSupply === null ? null : amountText(row, maxSupply),
  }
}

function collateralFacts({ supply }: AssetRow, collateral: Collateral | null) {
  if (collateral === null) return { backingPct: null, method: null, reason: NOT_BACKED, reserves: [] }
  const { backingBps, method, parts } = collateral
  return {
    backingPct: backingBps === null ? null : Number(backingBps) / 100,
    method:
      method === 'reserve'
        ? 'reserve held and paid out by consensus'
        : 'custody on other chains, attested by the committee',
    reason: supply === 0n ? 'there is no supply to back' : null,
    reserves: parts.map(reserveFacts),
  }
}

function reserveFacts({
  asset,
  amount,
  held,
}: CollateralPart): Static<typeof RESULT>['collateral']['reserves'][number] {
  if (held.in === 'reserve')
    return { ...assetAmount(asset, amount), heldIn: 'reserve on this chain', status: 'redeemable' }
  return { ...assetAmount(asset, amount), heldIn: held.network.rules.name, status: held.network.status }
}

function depthFacts(chain: ChainReader, { row, native, usdMicros }: TokenDepth) {
  const coin = { decimals: chain.ruleBook.params.decimals }
  return { ...poolName(row), depthNative: native === null ? null : amountText(coin, native), depthUsd: usd(usdMicros) }
}

/** Strengths and risks of a token. */
export const tokenAudit = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Token audit',
  description:
    'On-chain audit of one token: collateral and backing, powers of its issuer, holders, pool depth, risk flags with their evidence, and a score with published weights.',
  brief: 'Audits one token: backing, issuer powers, holders, pool depth and risk flags.',
  words: 'scam safe rug security trust risky',
  capability: 'audit',
  priceUsdMicros: 40_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    token: {
      symbol: 'FUSD',
      name: 'Farthing dollar',
      decimals: 6,
      kind: 'stable',
      issuer: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
      createdHeight: 0,
      supply: '201500',
      maxSupply: null,
    },
    collateral: {
      backingPct: 100.74,
      method: 'reserve held and paid out by consensus',
      reason: null,
      reserves: [
        { symbol: 'XUSD', decimals: 6, amount: '203000', heldIn: 'reserve on this chain', status: 'redeemable' },
      ],
    },
    flags: { frozen: false, hidden: false, mintable: false, issuerCanFreeze: false },
    holders: 11,
    topHolderPct: 5.8,
    pools: [{ id: SAMPLE_POOL, pool: 'FAR-FUSD-30', feePct: 0.3, depthNative: '400000', depthUsd: 100000 }],
    riskFlags: [
      {
        code: 'custody-elsewhere',
        severity: 'low',
        points: 5,
        evidence: 'XUSD is held by vaults on other chains, as its committee attests',
      },
    ],
    score: 95,
    scoring: SCORING,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 32_768,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (symbol, { chain }) => (assetNamed(chain, symbol) === undefined ? noToken(chain, symbol, FORMAT) : null),
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (symbol, context) => readAtHead(ID, context, () => audit(context.chain, symbol)),
})
