import type { AccountKeys } from '../../consensus/crypto/account-keys.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { payloadToJson } from '../../consensus/tx/json.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import type { SimulationView } from '../../rpc/client/ledger-client.ts'
import { type Intent, rehearseTransaction } from '../../rpc/client/transactions.ts'
import { printable } from '../telemetry/terminal.ts'
import { nativeAsset } from './assets.ts'
import { balanceLines } from './balance-changes.ts'
import { EXIT } from './exit-codes.ts'
import { labelled } from './labels.ts'
import { outcomeOfApi, outcomeText } from './outcome-text.ts'
import type { Proposal } from './proposal.ts'
import type { Session } from './session.ts'
import { shortfall, vaultShortfall } from './shortfall.ts'
import { amountText } from './values.ts'

/** Nothing is signed or sent. */
export async function rehearse(
  session: Session,
  keys: AccountKeys,
  proposal: Proposal,
  intent: Intent,
): Promise<number | Fault> {
  const { client, context } = session
  const tx = await rehearseTransaction(client, context.params, keys, intent)
  if (!tx.ok) return tx.fault
  const simulated = await client.simulate(tx.value)
  if (!simulated.ok) return simulated.fault
  const isLoss = lossOf(session, proposal, simulated.value) !== null
  const needs = [fieldsOf(proposal.facts).needs, ...(isLoss ? ['--accept-loss'] : [])].filter(Boolean).join(' ')
  const facts = { ...factsOf(session, proposal, simulated.value), ...(needs === '' ? {} : { needs }) }
  if (context.flags.json !== undefined) context.printJson(facts)
  else for (const line of await linesOf(session, proposal, simulated.value)) context.print(line)
  const reason = await failureOf(session, proposal, simulated.value)
  if (isLoss) context.note('this needs --accept-loss to be sent')
  if (reason === null) return EXIT.ok
  if (!simulated.value.wouldMine) return fault('cli/would-not-mine', { reason })
  return fault('cli/would-fail', { reason, fee: amountText(simulated.value.fee, nativeAsset(context)) })
}

/**
 * Why a transaction would fail on the current state, or would bring less than its fee; null if neither is the case.
 * Nothing is sent. Null also if earlier transactions of the sender still wait, since they may change the outcome, and if
 * the node does not simulate: the transaction is then sent untried.
 */
export async function failureBefore(
  session: Session,
  keys: AccountKeys,
  proposal: Proposal,
  { intent, nonce }: { readonly intent: Intent; readonly nonce: bigint },
): Promise<Fault | null> {
  const { client, context } = session
  const tx = await rehearseTransaction(client, context.params, keys, intent)
  if (!tx.ok) return tx.fault
  if (tx.value.body.nonce !== nonce) return null
  const simulated = await client.simulate(tx.value)
  if (simulated.ok) {
    const reason = await failureOf(session, proposal, simulated.value)
    return reason === null ? lossOf(session, proposal, simulated.value) : fault('cli/not-sent', { reason })
  }
  context.note(`not tried before it is sent: ${faultMessage(simulated.fault)}`)
  return null
}

async function failureOf(session: Session, proposal: Proposal, simulated: SimulationView): Promise<string | null> {
  return simulated.success ? null : printable(await reasonOf(session, proposal, simulated))
}

async function reasonOf(session: Session, proposal: Proposal, simulated: SimulationView): Promise<string> {
  const { wouldMine, code, error } = simulated
  const known = wouldMine && code !== null ? outcomeOfApi(code, proposal.kind) : undefined
  if (known === undefined) return error === null ? `${code}` : `${code}: ${error}`
  if (known === 'bridge/float') return `${outcomeText(known)}${await vaultShortfall(session, proposal)}`
  const lacking = known === 'ledger/insufficient-balance' ? await shortfall(session, proposal, simulated.fee) : ''
  return `${outcomeText(known)}${lacking}`
}

/** The fault for a transaction worth less than its fee. Null if it is not, if its worth is unknown, or with --accept-loss. */
function lossOf({ context }: Session, proposal: Proposal, { amounts, fee }: SimulationView): Fault | null {
  const coin = nativeAsset(context)
  const moved = amounts[proposal.amounts.findIndex(({ asset }) => asset?.symbol === coin.symbol)]
  if (proposal.coinSides === undefined || moved === undefined || context.flags['accept-loss'] !== undefined) return null
  const worth = BigInt(moved) * proposal.coinSides
  return worth < fee ? fault('cli/loss', { brings: amountText(worth, coin), costs: amountText(fee, coin) }) : null
}

function factsOf({ context }: Session, { kind, payload, facts }: Proposal, { fee, ...simulated }: SimulationView) {
  const json = payloadToJson(context.params.addressPrefix, { kind, payload } as never)
  return { dryRun: true, kind, payload: json, ...simulated, fee: fee.toString(), ...facts }
}

async function linesOf(
  session: Session,
  proposal: Proposal,
  { success, fee, amounts, changes }: SimulationView,
): Promise<readonly string[]> {
  const would = `dry run: ${proposal.says}`
  if (!success) return [would]
  const told = [...labelled(proposal.amounts, amounts), `fee ${amountText(fee, nativeAsset(session.context))}`]
  const lines = await balanceLines(session, proposal, changes)
  return [would, `comes to: ${told.join(', ')}`, ...lines, 'nothing was signed or sent']
}
