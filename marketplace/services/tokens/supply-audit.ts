import { Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { balanceOf } from '../../../consensus/ledger/token-balances.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { SUPPLY_ENTRIES_MAX, supplyPlaces } from '../../queries/supply.ts'
import { type AssetRow, listAssets, recordedRow } from '../../queries/tokens.ts'
import { amountText, DECIMAL_AMOUNT, orNull, PERCENT, percent, SYMBOL, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { NAME_CHARS_MAX, namedOn, nameFault, parseTokenOrPool } from '../named.ts'
import { EXCLUDED, excludedFrom } from '../places.ts'
import { readAtHead } from '../reading.ts'
import { defineService } from '../service.ts'

const ID = 'node-supply-audit' as ServiceId
const FORMAT = {
  requestFormat: 'token symbol, pool name (X-Y-fee) or pool id for its two tokens; empty for all tokens',
  example: 'FUSD',
}
/** Maximum tokens in one audit. {@link SUPPLY_ENTRIES_MAX} bounds the holders of all of them together. */
export const AUDITED_TOKENS_MAX = 50

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  tokens: Type.Array(
    Type.Object({
      symbol: SYMBOL,
      decimals: Type.Integer(),
      minted: DECIMAL_AMOUNT,
      burned: DECIMAL_AMOUNT,
      supply: DECIMAL_AMOUNT,
      maxSupply: orNull(DECIMAL_AMOUNT),
      headroom: orNull(DECIMAL_AMOUNT),
      holders: Type.Integer(),
      issuerBalance: orNull(DECIMAL_AMOUNT),
      issuerSharePct: orNull(PERCENT),
      atAddresses: orNull(DECIMAL_AMOUNT),
      elsewhere: orNull(EXCLUDED),
      reconciles: orNull(Type.Boolean()),
      unknown: UNKNOWN,
    }),
    { maxItems: AUDITED_TOKENS_MAX },
  ),
  reconciles: orNull(Type.Boolean()),
  rule: Type.String(),
  truncated: Type.Boolean(),
  unknown: UNKNOWN,
})

const RULE =
  'minted - burned equals the sum over all addresses, pools, reserves, stakes, rewards, escrows and tabs, added up anew for this answer'

async function audited(chain: ChainReader, row: AssetRow, budget: number) {
  const { database } = chain
  const { asset, issuer, supply } = row
  const places = row.holders <= budget ? await supplyPlaces(chain, asset) : null
  const reconciles = places?.reconciles ?? null
  const issuerUnits = issuer === null ? null : balanceOf(database, { address: issuer, asset })
  const text = (units: bigint): string => amountText(row, units)
  return {
    symbol: row.symbol,
    decimals: row.decimals,
    minted: text(row.minted),
    burned: text(row.burned),
    supply: text(supply),
    maxSupply: row.maxSupply === null ? null : text(row.maxSupply),
    // Null without a maximum: only the width of the ledger's numbers limits such a supply.
    headroom: row.maxSupply === null ? null : text(row.headroom),
    holders: row.holders,
    issuerBalance: issuerUnits === null ? null : text(issuerUnits),
    issuerSharePct: issuerUnits === null || supply === 0n ? null : percent(issuerUnits, supply),
    atAddresses: places === null || reconciles === null ? null : text(places.held),
    elsewhere: places === null || reconciles === null ? null : excludedFrom(row, places),
    reconciles,
    unknown: reconciles === null ? ['atAddresses', 'elsewhere', 'reconciles'] : [],
  }
}

async function rowsOf(
  chain: ChainReader,
  name: string | null,
): Promise<{ readonly rows: readonly AssetRow[]; readonly more: boolean }> {
  const named = name === null ? undefined : namedOn(chain, name)
  if (named !== undefined) return { rows: named.assets.map(({ asset }) => recordedRow(chain, asset)), more: false }
  const { assets, next } = await listAssets(chain, { limit: AUDITED_TOKENS_MAX, hidden: true })
  return { rows: assets, more: next !== null }
}

async function audit({ chain }: ServiceContext, name: string | null) {
  const { rows, more } = await rowsOf(chain, name)
  const tokens = []
  let budget = SUPPLY_ENTRIES_MAX
  for (const row of rows) {
    const token = await audited(chain, row, budget)
    if (token.reconciles !== null) budget -= row.holders
    tokens.push(token)
  }
  const open = tokens.flatMap(({ symbol, reconciles }) => (reconciles === null ? [symbol] : []))
  const wrong = tokens.some(({ reconciles }) => reconciles === false)
  return {
    tokens,
    reconciles: wrong ? false : open.length > 0 || more ? null : true,
    rule: RULE,
    truncated: more,
    unknown: [
      ...open.map((symbol) => `${symbol}: more holders than are added up`),
      ...(more ? ['further tokens'] : []),
    ],
  }
}

/** Checks that all balances of a token add up to its supply. */
export const supplyAudit = defineService<string | null, typeof RESULT>({
  serviceId: ID,
  name: 'Supply audit',
  description:
    'Minted, burned, supply, headroom, holders and issuer balance of one token or all, and whether all balances, pools, reserves, stakes and escrows add up to the supply.',
  brief: 'Checks that the balances of a token, or of all, add up to its supply.',
  words: 'inflation circulating total issued',
  capability: 'audit',
  priceUsdMicros: 12_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    tokens: [
      {
        symbol: 'FUSD',
        decimals: 6,
        minted: '201000',
        burned: '1000',
        supply: '200000',
        maxSupply: null,
        headroom: null,
        holders: 10,
        issuerBalance: '10000',
        issuerSharePct: 5,
        atAddresses: '100000',
        elsewhere: [{ place: 'inPools', amount: '100000' }],
        reconciles: true,
        unknown: [],
      },
    ],
    reconciles: true,
    rule: RULE,
    truncated: false,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 65_536,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: NAME_CHARS_MAX,
  parse: (request) => parseTokenOrPool(request, FORMAT),
  check: (name, { chain }) => nameFault(chain, name, FORMAT),
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (name, context) => readAtHead(ID, context, () => audit(context, name)),
})
