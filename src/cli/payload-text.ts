import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { TOKEN_SYMBOL, type TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { TxKind } from '../../consensus/tx/kinds.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'
import { payoutFact, withdrawalState } from './ends.ts'
import { counted, type Fact, textFact } from './facts.ts'
import { type Asking, bpsCell, cellOf, type Fields, itemsOf } from './reading.ts'
import { lookUpAsset } from './session.ts'
import { unitsText } from './values.ts'

/** Decimals of a price in millionths of a dollar. */
const USD_DECIMALS = 6

/** A payload with the amounts that the chain computed, and a formatter for amounts. */
export interface Told {
  readonly payload: Fields
  readonly amounts: readonly unknown[]
  readonly units: (value: unknown, symbol: unknown) => string | undefined
  readonly ticker: string
  readonly state?: string | undefined
}

type Facts = (told: Told) => readonly Fact[]

const issue: Facts = ({ payload, units }) => [
  ['To', textFact(payload.to)],
  ['Amount', units(payload.amount, payload.symbol)],
]
const part: Facts = ({ payload, units }) => [['Amount', units(payload.amount, payload.symbol)]]
const pool = ({ assetA, assetB, feeBps }: Fields): Fact => [
  'Pool',
  `${cellOf(assetA)} and ${cellOf(assetB)} at ${bpsCell(feeBps)}`,
]
const paidBoth = ({ payload, amounts: [a, b, shares], units }: Told): readonly Fact[] => [
  pool(payload),
  ['Paid', units(a ?? payload.amountA, payload.assetA)],
  ['And', units(b ?? payload.amountB, payload.assetB)],
  ['Shares', textFact(shares)],
]
const service: Facts = ({ payload }) => [
  ['Agent', textFact(payload.agentId)],
  ['Service', textFact(payload.serviceId)],
]
const agent: Facts = ({ payload }) => [
  ['Agent', `${cellOf(payload.agentId)} (${cellOf(payload.name)})`],
  ['Endpoint', textFact(payload.endpoint)],
]
const received: Facts = ({ payload, amounts: [due], units, ticker }) => [
  ['Stake', textFact(payload.stakeId)],
  ['Received', units(due, ticker)],
]
const withdrawal: Facts = ({ payload }) => [
  ['Withdrawal', textFact(payload.withdrawalId)],
  ['Paid by', textFact(payload.externalTxId)],
]
const token: Facts = ({ payload }) => [['Token', textFact(payload.symbol)]]

const KIND_FACTS: Readonly<Partial<Record<TxKind, Facts>>> = {
  transfer: ({ payload, units, ticker }) => [
    ['To', textFact(payload.to)],
    ['Amount', units(payload.amount, ticker)],
  ],
  token_create: ({ payload, units }) => [
    ['Token', `${cellOf(payload.symbol)} (${cellOf(payload.name)}), ${cellOf(payload.decimals)} decimals`],
    ['Maximum', payload.maxSupply === '0' ? 'none' : units(payload.maxSupply, payload.symbol)],
  ],
  token_mint: issue,
  token_burn: part,
  token_transfer: issue,
  token_flags: ({ payload }) => [
    ['Token', textFact(payload.symbol)],
    ['Frozen', textFact(payload.frozen)],
    ['Hidden', textFact(payload.hidden)],
  ],
  token_issuer: (told) => [...token(told), ['Issuer', textFact(told.payload.issuer)]],
  stable_deposit: ({ payload, units }) => [
    ['Token', textFact(payload.symbol)],
    ['Amount', units(payload.amount, payload.reserve)],
  ],
  stable_mint: issue,
  stable_redeem: ({ payload, amounts: [paid], units }) => [
    ['Burned', units(payload.amount, payload.symbol)],
    ['At least', units(payload.minPaid, payload.reserve)],
    ['Received', units(paid, payload.reserve)],
  ],
  stable_withdraw: ({ payload, units }) => [
    ['Token', textFact(payload.symbol)],
    ['Amount', units(payload.amount, payload.reserve)],
  ],
  pool_create: paidBoth,
  liquidity_add: paidBoth,
  liquidity_remove: ({ payload, amounts: [a, b], units }) => [
    pool(payload),
    ['Shares', textFact(payload.shares)],
    ['Received', units(a, payload.assetA)],
    ['And', units(b, payload.assetB)],
  ],
  swap: swapFacts,
  stake: ({ payload, units, ticker }) => [
    ['Amount', units(payload.amount, ticker)],
    ['Tier', textFact(payload.tier)],
  ],
  unstake: received,
  claim: received,
  bridge_deposit: ({ payload, units }) => [
    ['To', textFact(payload.to)],
    ['Amount', units(payload.amount, payload.asset)],
    ['Network', textFact(payload.network)],
    ['Paid by', textFact(payload.externalTxId)],
  ],
  bridge_withdraw: ({ payload, amounts: [receives], units, state }) => [
    ['To', textFact(payload.recipient)],
    ['Network', textFact(payload.network)],
    ['Amount', units(payload.amount, payload.asset)],
    payoutFact(
      state,
      receives === undefined ? undefined : units(payload.amount, payload.asset),
      units(receives, payload.asset),
    ),
  ],
  bridge_sign: withdrawal,
  bridge_release: withdrawal,
  bridge_cancel: withdrawal,
  bridge_halt: ({ payload }) => [['Network', textFact(payload.network)]],
  agent_register: agent,
  agent_update: agent,
  service_publish: (told) => [
    ...service(told),
    ['Price', unitsText(told.payload.priceUsdMicros, { symbol: 'USD' as TokenSymbol, decimals: USD_DECIMALS })],
  ],
  service_retire: service,
  agent_invoke: (told) => [...service(told), ['Amount', told.units(told.payload.amount, told.ticker)]],
  agent_receipt: ({ payload }) => [['Ends', counted(itemsOf(payload.entries).length, 'paid call')]],
  tab_terms: ({ payload, units, ticker }) => [
    ['Agent', textFact(payload.agentId)],
    ['Takes tabs', payload.receiptKey === ZERO_HEX_32 ? 'no new ones' : `with the key ${cellOf(payload.receiptKey)}`],
    ['At least', units(payload.minDeposit, ticker)],
  ],
  tab_open: ({ payload, units, ticker }) => [
    ['Agent', textFact(payload.agentId)],
    ['Deposit', units(payload.deposit, ticker)],
    ['Ends after', counted(payload.term, 'block')],
    ['Close delay', counted(payload.closeDelay, 'block')],
  ],
  tab_fund: ({ payload, units, ticker }) => [
    ['Tab', textFact(payload.tabId)],
    ['Amount', units(payload.amount, ticker)],
  ],
  tab_claim: ({ payload, amounts: [paid, burned, returned], units, ticker }) => [
    ['Claims', `from ${counted(itemsOf(payload.entries).length, 'tab')}`],
    ['Paid', units(paid, ticker)],
    ['Burned', units(burned, ticker)],
    ['Returned', units(returned, ticker)],
  ],
  tab_close: ({ payload }) => [['Tab', textFact(payload.tabId)]],
}

function swapFacts({ payload, amounts, units }: Told): readonly Fact[] {
  const hops = itemsOf(payload.hops)
  const [from, to] = [payload.assetIn, hops.at(-1)?.asset]
  const way = hops.map(({ asset, feeBps }) => `${cellOf(asset)} (${bpsCell(feeBps)})`)
  const isExactOut = payload.exactOut === true
  const asked: readonly Fact[] = isExactOut
    ? [
        ['For', units(payload.amount, to)],
        ['At most', units(payload.limit, from)],
      ]
    : [
        ['Of', units(payload.amount, from)],
        ['At least', units(payload.limit, to)],
      ]
  return [
    ['Way', [cellOf(from), ...way].join(' -> ')],
    ...asked,
    ['Paid', units(amounts[0], from)],
    ['Received', units(amounts.at(-1), to)],
  ]
}

/** `amounts` are those of its receipt. */
export async function payloadFacts(
  transaction: Fields,
  amounts: readonly unknown[],
  asking: Asking,
): Promise<readonly Fact[]> {
  const { kind } = transaction
  const facts = typeof kind === 'string' && Object.hasOwn(KIND_FACTS, kind) ? KIND_FACTS[kind as TxKind] : undefined
  if (facts === undefined) return []
  const told = await toldPayload(transaction, amounts, asking)
  if (kind !== 'bridge_withdraw' || amounts.length === 0) return facts(told)
  return facts({ ...told, state: await withdrawalState(cellOf(transaction.txId), asking) })
}

/** A payload with names in place of numbers, and a formatter for amounts of its assets. */
export async function toldPayload(transaction: Fields, amounts: readonly unknown[], asking: Asking): Promise<Told> {
  const payload = withNames(fieldsOf(transaction.payload), asking)
  const assets = await assetsOf(payload, asking)
  const units = (value: unknown, symbol: unknown): string | undefined =>
    value === undefined ? undefined : unitsText(value, assets.get(String(symbol)), String(symbol))
  return { payload, amounts, units, ticker: asking.context.params.ticker }
}

/**
 * Adds what a payload leaves out and people need to read its amounts: the name and token of a bridge network, and the reserve token of a
 * stable token.
 */
function withNames(payload: Fields, { context: { params } }: Asking): Fields {
  const { rules } = params.steps.at(-1) as (typeof params.steps)[number]
  const network = typeof payload.network === 'number' ? rules.bridge.networks[payload.network] : undefined
  const stable = params.genesis.ledgers.stables.find(({ symbol }) => symbol === payload.symbol)
  return {
    ...payload,
    ...(network !== undefined && { network: network.name, asset: network.asset }),
    ...(stable !== undefined && { reserve: stable.reserveSymbol }),
  }
}

/** Assets that the node does not know are missing. */
async function assetsOf(payload: Fields, asking: Asking): Promise<ReadonlyMap<string, AssetView>> {
  const { symbol, assetA, assetB, assetIn, asset, reserve, hops, decimals } = payload
  const named = [symbol, assetA, assetB, assetIn, asset, reserve, itemsOf(hops).at(-1)?.asset]
  const assets = new Map<string, AssetView>()
  for (const text of [asking.context.params.ticker, ...named]) {
    if (typeof text !== 'string' || assets.has(text) || !TOKEN_SYMBOL.test(text)) continue
    const one = text as TokenSymbol
    // A token created by this transaction may not exist yet.
    if (text === symbol && typeof decimals === 'number') assets.set(text, { symbol: one, decimals })
    else {
      const found = await lookUpAsset(asking, one)
      if (found.ok) assets.set(text, found.value)
    }
  }
  return assets
}
