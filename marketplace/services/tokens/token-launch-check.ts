import { type Static, Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { assetOf, symbolOf } from '../../../consensus/ledger/asset.ts'
import { checkLaunch } from '../../../consensus/ledger/token-launch.ts'
import { SYMBOLS, skeletonOf } from '../../../consensus/ledger/token-records.ts'
import { formatAmount } from '../../../consensus/primitives/amount.ts'
import { type ServiceId, TOKEN_SYMBOL, type TokenSymbol } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import { coinOf, recordedAsset } from '../../queries/assets.ts'
import { nameLookAlikes } from '../../queries/look-alikes.ts'
import { ASSET_AMOUNT, assetAmount, UNKNOWN } from '../amounts.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readAtHead } from '../reading.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-token-launch-check' as ServiceId
const FORMAT = {
  requestFormat: 'SYMBOL|Name|decimals|maxSupply; decimals 0 to 18, maxSupply in whole units, 0 for none',
  example: 'PEPPER|Black pepper|4|1000000',
}
const REQUEST_CHARS_MAX = 400
const FEE_NOTE =
  'estimate for an account of one key that has sent before: burn + weight x suggestedRate; only the burn is the same for every account'
/** Weight of a token_create by a single-key account that has sent before, without the bytes of symbol and name. */
const LAUNCH_WEIGHT = 24_009

const CONFLICT = Type.Object({
  kind: Type.Union([Type.Literal('symbol-taken'), Type.Literal('symbol-look-alike'), Type.Literal('name-look-alike')]),
  symbol: Type.String(),
  name: Type.String(),
  blocking: Type.Boolean(),
})

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  wouldPass: Type.Boolean(),
  checks: Type.Array(Type.Object({ rule: Type.String(), pass: Type.Boolean(), detail: Type.String() })),
  normalised: Type.Object({
    symbol: Type.String(),
    name: Type.String(),
    decimals: Type.Integer({ minimum: 0 }),
    maxSupply: Type.String(),
    maxSupplyUnits: Type.String(),
  }),
  fee: Type.Object({
    burn: ASSET_AMOUNT,
    weight: Type.Integer({ minimum: 0 }),
    suggestedRate: Type.String(),
    transactionFee: ASSET_AMOUNT,
    total: ASSET_AMOUNT,
    note: Type.String(),
  }),
  conflicts: Type.Array(CONFLICT),
  namesCompared: Type.Integer({ minimum: 0 }),
  unknown: UNKNOWN,
})

/** The symbol is in capitals. */
interface Wanted {
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** In base units. */
  readonly maxSupply: bigint
}

function parse(request: string): Result<Wanted> {
  const fields = request.split('|').map((field) => field.trim())
  const [symbol = '', name = '', decimals = '', supply = ''] = fields
  if (fields.length !== 4) return unusable('there must be exactly four fields with | between them', FORMAT)
  if (!/^[0-9]{1,3}$/.test(decimals)) return unusable('decimals must be a whole number', FORMAT)
  const [, whole, fraction = ''] = /^(0|[1-9][0-9]{0,40})(?:\.([0-9]{1,40}))?$/.exec(supply) ?? []
  if (whole === undefined) return unusable('maxSupply must be a decimal number', FORMAT)
  if (fraction.length > Number(decimals)) return unusable('maxSupply has more decimals than the token', FORMAT)
  const maxSupply = BigInt(whole + fraction.padEnd(Number(decimals), '0'))
  return ok({ symbol: symbol.toUpperCase(), name, decimals: Number(decimals), maxSupply })
}

function symbolConflict(chain: ChainReader, symbol: string): readonly Static<typeof CONFLICT>[] {
  if (!TOKEN_SYMBOL.test(symbol)) return []
  const coin = coinOf(chain)
  const known = chain.database.get(SYMBOLS, skeletonOf(symbol as TokenSymbol))
  if (known === undefined) return []
  const taken = known.asset === assetOf(symbol as TokenSymbol, coin)
  const kind = taken ? ('symbol-taken' as const) : ('symbol-look-alike' as const)
  const { name } = recordedAsset(chain, known.asset)
  return [{ kind, symbol: symbolOf(known.asset, coin), name, blocking: true }]
}

async function launchFacts(chain: ChainReader, wanted: Wanted, suggestedRate: bigint) {
  const rules = chain.ruleBook.at(chain.head.header.height + 1)
  const checks = checkLaunch(chain.database, rules, wanted)
  const names = await nameLookAlikes(chain, wanted.name)
  return {
    wouldPass: checks.every(({ pass }) => pass),
    checks: checks.map(({ rule, pass, detail }) => ({ rule: rule as string, pass, detail })),
    normalised: {
      symbol: wanted.symbol,
      name: wanted.name,
      decimals: wanted.decimals,
      maxSupply: formatAmount(wanted.maxSupply, wanted.decimals),
      maxSupplyUnits: wanted.maxSupply.toString(),
    },
    fee: feeFacts(chain, wanted, suggestedRate),
    conflicts: [
      ...symbolConflict(chain, wanted.symbol),
      ...names.found.map(({ symbol, name }) => ({ kind: 'name-look-alike' as const, symbol, name, blocking: false })),
    ],
    namesCompared: names.compared,
    unknown: names.complete ? [] : ['conflicts beyond the names compared'],
  }
}

function feeFacts(chain: ChainReader, { symbol, name }: Wanted, suggestedRate: bigint) {
  const { createBurn } = chain.ruleBook.at(chain.head.header.height + 1).token
  const coin = { symbol: coinOf(chain).symbol, decimals: chain.ruleBook.params.decimals }
  const weight = LAUNCH_WEIGHT + encodeText(symbol + name).length
  const fee = BigInt(weight) * suggestedRate
  return {
    burn: assetAmount(coin, createBurn),
    weight,
    suggestedRate: suggestedRate.toString(),
    transactionFee: assetAmount(coin, fee),
    total: assetAmount(coin, createBurn + fee),
    note: FEE_NOTE,
  }
}

/** Whether a token could be created with the requested values. */
export const tokenLaunchCheck = defineService<Wanted, typeof RESULT>({
  serviceId: ID,
  name: 'Token launch check',
  description:
    'Whether a new token passes every rule of consensus, asked of the very validator that blocks run, with what it burns and which symbols and names it could be mistaken for.',
  brief: 'Checks whether a new token would pass every rule of the chain, and what it costs.',
  words: 'create issue launch symbol validate',
  capability: 'compliance',
  priceUsdMicros: 12_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    wouldPass: false,
    checks: [
      { rule: 'symbol-form', pass: true, detail: 'the symbol has the form of one' },
      { rule: 'no-look-alike', pass: false, detail: 'W00L looks like WOOL' },
    ],
    normalised: { symbol: 'W00L', name: 'Wool', decimals: 4, maxSupply: '1000000', maxSupplyUnits: '10000000000' },
    fee: {
      burn: { symbol: 'FAR', decimals: 8, amount: '10' },
      weight: 24017,
      suggestedRate: '33',
      transactionFee: { symbol: 'FAR', decimals: 8, amount: '0.00792561' },
      total: { symbol: 'FAR', decimals: 8, amount: '10.00792561' },
      note: FEE_NOTE,
    },
    conflicts: [
      { kind: 'symbol-look-alike', symbol: 'WOOL', name: 'Wool', blocking: true },
      { kind: 'name-look-alike', symbol: 'WOOL', name: 'Wool', blocking: false },
    ],
    namesCompared: 7,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 32_768,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (wanted, context) =>
    readAtHead(ID, context, () => launchFacts(context.chain, wanted, context.mempool.suggestedRate)),
})
