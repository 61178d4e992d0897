import { formatAmount } from '../../consensus/primitives/amount.ts'
import type { PayloadOf } from '../../consensus/tx/kinds.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import { UNITS } from '../../rpc/client/ledger-client.ts'
import { decode } from '../../rpc/contract/schema.ts'
import type { Proposal } from './proposal.ts'
import { ownAddress, type Session } from './session.ts'
import { amountText } from './values.ts'

/** Kinds of transactions whose `amount` counts the token in `symbol`. */
const OF_SYMBOL: ReadonlySet<string> = new Set(['token_transfer', 'token_burn', 'stable_redeem'])
/** Kinds of transactions whose `amount` counts the coin. */
const OF_COIN: ReadonlySet<string> = new Set(['transfer', 'stake', 'agent_invoke', 'tab_fund'])

type Needs = readonly (readonly [symbol: string, units: bigint])[]

/**
 * The asset that a wallet holds too little of, with what it holds and what it needs: `: it holds 1 SALT, and this takes
 * 2 SALT`. Empty if that is not known.
 */
export async function shortfall(session: Session, proposal: Proposal, fee: bigint): Promise<string> {
  const holdings = await session.client.holdings(ownAddress(session))
  if (!holdings.ok) return ''
  const { native, tokens } = holdings.value
  for (const [symbol, units] of needsOf(session, proposal, fee)) {
    const held = symbol === native.symbol ? native : tokens.find((token) => token.symbol === symbol)
    if (held === undefined) return `: it holds no ${symbol}`
    if (held.units >= units) continue
    return `: it holds ${amountText(held.units, held)}, and this takes ${formatAmount(units, held.decimals)} ${symbol}`
  }
  return ''
}

/** Empty if not known. */
export async function vaultShortfall({ client, rules }: Session, { payload }: Proposal): Promise<string> {
  const { network, amount } = payload as Partial<PayloadOf<'bridge_withdraw'>>
  const answer = await client.document(`/api/v1/bridge/${network}`)
  const float = answer.ok ? decode(UNITS, fieldsOf(answer.value.network).float) : undefined
  if (float === undefined || float.symbol !== rules.bridge.networks[Number(network)]?.asset) return ''
  return `: it holds ${amountText(float.units, float)}, and this takes ${amountText(amount as bigint, float)}`
}

/** The fee is added to what the transaction takes of the coin. */
function needsOf({ context, rules }: Session, { kind, payload }: Proposal, fee: bigint): Needs {
  const { ticker, genesis } = context.params
  const fields = payload as unknown as Readonly<Record<string, unknown>>
  const taken: [unknown, unknown][] = [
    [fields.assetA, fields.amountA],
    [fields.assetB, fields.amountB],
    [fields.assetIn, fields.exactOut === true ? fields.limit : fields.amount],
  ]
  if (OF_SYMBOL.has(kind)) taken.push([fields.symbol, fields.amount])
  if (OF_COIN.has(kind)) taken.push([ticker, fields.amount])
  if (kind === 'tab_open') taken.push([ticker, fields.deposit])
  if (kind === 'token_create') taken.push([ticker, rules.token.createBurn])
  if (kind === 'bridge_withdraw') taken.push([rules.bridge.networks[Number(fields.network)]?.asset, fields.amount])
  if (kind === 'stable_deposit') {
    const stable = genesis.ledgers.stables.find(({ symbol }) => symbol === fields.symbol)
    taken.push([stable?.reserveSymbol, fields.amount])
  }
  return taken.flatMap(([symbol, units]) => {
    if (typeof symbol !== 'string' || typeof units !== 'bigint') return []
    return [[symbol, symbol === ticker ? units + fee : units] as const]
  })
}
