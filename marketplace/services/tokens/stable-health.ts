import { type Static, Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { recordedAsset } from '../../queries/assets.ts'
import { PriceBook } from '../../queries/prices.ts'
import {
  healthOf,
  healthReasons,
  isStable,
  listStables,
  PEG_BOUNDS,
  pegOf,
  type StableRow,
} from '../../queries/stables.ts'
import { assetRow } from '../../queries/tokens.ts'
import { ASSET_AMOUNT, assetAmount, orNull, PERCENT, SYMBOL, UNKNOWN, USD, usd } from '../amounts.ts'
import { parseContextName } from '../context-names.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { CHANGE_PCT, PRICE, pctOfPpm, sampleEnvelope, unknownIn, wholePrice } from '../figures.ts'
import { readAtHead } from '../reading.ts'
import { CONTEXT_CHARS_MAX, refusal } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-stable-health' as ServiceId
const FORMAT = { requestFormat: '[symbol of a stable token]; empty for all of them', example: 'FUSD' }
const RULE = {
  criticalIf: `backing below 100 %, or ${Number(PEG_BOUNDS.criticalBps) / 100} % and more off the peg`,
  warnIf: `${Number(PEG_BOUNDS.warnBps) / 100} % and more off the peg, frozen, or a network of its reserve halted`,
  peg: 'price in the deepest pool with the reserve asset, which counts as a dollar',
}

const LEVEL = Type.Union([Type.Literal('info'), Type.Literal('warn'), Type.Literal('critical')])
const STABLE = Type.Object({
  symbol: SYMBOL,
  backingPct: orNull(PERCENT),
  collateral: Type.Array(
    Type.Object({ ...ASSET_AMOUNT.properties, kind: Type.String(), sharePct: orNull(PERCENT), valueUsd: USD }),
  ),
  supply: ASSET_AMOUNT,
  redeemable: ASSET_AMOUNT,
  surplus: ASSET_AMOUNT,
  pegPriceUsd: PRICE,
  pegDeviationPct: orNull(CHANGE_PCT),
  pegPool: orNull(Type.String()),
  health: orNull(Type.Union([Type.Literal('ok'), Type.Literal('warn'), Type.Literal('critical')])),
  reasons: Type.Array(Type.Object({ code: Type.String(), level: LEVEL, detail: Type.String() })),
  unknown: UNKNOWN,
})

/** Result fields, without the envelope. */
export const STABLE_HEALTH = {
  stables: Type.Array(STABLE),
  rule: Type.Object({ criticalIf: Type.String(), warnIf: Type.String(), peg: Type.String() }),
  unknown: UNKNOWN,
}
const FACTS = Type.Object(STABLE_HEALTH)
const RESULT = Type.Object({ ...CHAIN_ENVELOPE, ...STABLE_HEALTH })

/** Call it within `atOneHead`. */
export async function stableHealthFacts(chain: ChainReader, symbol: string | null): Promise<Static<typeof FACTS>> {
  const rows = symbol === null ? await listStables(chain) : [stableNamed(chain, symbol)]
  const stables: Static<typeof STABLE>[] = []
  for (const row of rows) stables.push(await stableFacts(chain, row))
  const unknown = stables.flatMap((stable) => stable.unknown.map((field) => `${stable.symbol}.${field}`))
  return { stables, rule: RULE, unknown }
}

function stableNamed(chain: ChainReader, symbol: string): StableRow {
  const row = assetRow(chain, symbol)
  if (row === undefined || !isStable(row)) throw new Error(`there is no stable token ${symbol}`)
  return row
}

async function stableFacts(chain: ChainReader, row: StableRow): Promise<Static<typeof STABLE>> {
  const { supply, reserve, redeemable, surplus, reserveAsset, backingBps } = row.backing
  const backer = recordedAsset(chain, reserveAsset)
  const peg = pegOf(chain, row)
  const reasons = healthReasons(chain, row, peg)
  const health = healthOf(row, reasons)
  const known = {
    backingPct: backingBps === null ? null : Number(backingBps) / 100,
    pegPriceUsd: peg && wholePrice(peg.price, row, backer),
    pegDeviationPct: peg && pctOfPpm(peg.deviationPpm),
    health: health === 'unknown' ? null : health,
  }
  const valueUsd = usd(await PriceBook.of(chain).valueOf(reserveAsset, reserve))
  const sharePct = reserve === 0n ? null : 100
  return {
    symbol: row.symbol,
    ...known,
    collateral: [{ ...assetAmount(backer, reserve), kind: backer.kind, sharePct, valueUsd }],
    supply: assetAmount(row, supply),
    redeemable: assetAmount(backer, redeemable),
    surplus: assetAmount(backer, surplus),
    pegPool: peg?.pool.name ?? null,
    reasons: [...reasons],
    unknown: [...unknownIn(known), ...(valueUsd === null ? ['collateral.valueUsd'] : [])],
  }
}

function check(chain: ChainReader, name: string | null): Fault | null {
  if (name === null) return null
  const row = assetRow(chain, name)
  return row !== undefined && isStable(row) ? null : refusal(`there is no stable token ${name}`, FORMAT)
}

/** Backing, redemption and peg of stable tokens. */
export const stableHealth = defineService<string | null, typeof RESULT>({
  serviceId: ID,
  name: 'Stable token health',
  description:
    'Collateral, backing, redeemable supply and peg of every stable token, with a health flag, its rule and the reasons for it. A request that is the symbol of one asks for it alone.',
  brief: 'Checks collateral, backing and peg of every stable token, with a health flag.',
  words: 'stablecoin fusd depeg backed reserve risk',
  capability: 'compliance',
  priceUsdMicros: 15_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    stables: [
      {
        symbol: 'FUSD',
        backingPct: 100.74,
        collateral: [
          { symbol: 'XUSD', decimals: 6, amount: '203000', kind: 'bridged', sharePct: 100, valueUsd: 203000 },
        ],
        supply: { symbol: 'FUSD', decimals: 6, amount: '201500' },
        redeemable: { symbol: 'XUSD', decimals: 6, amount: '201500' },
        surplus: { symbol: 'XUSD', decimals: 6, amount: '1500' },
        pegPriceUsd: 0.9991,
        pegDeviationPct: -0.09,
        pegPool: 'FUSD-XUSD-5',
        health: 'ok',
        reasons: [],
        unknown: [],
      },
    ],
    rule: RULE,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 131_072,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: CONTEXT_CHARS_MAX,
  parse: (request) => parseContextName(request, FORMAT),
  check: (name, { chain }) => check(chain, name),
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (name, context) => readAtHead(ID, context, () => stableHealthFacts(context.chain, name)),
})
