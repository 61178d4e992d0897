import { setTimeout } from 'node:timers/promises'
import { outcomeCode } from '../../consensus/ledger/outcome.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import { RECEIPT_PART, type ReceiptView } from '../../rpc/client/ledger-client.ts'
import type { TransactionView } from '../../rpc/client/node-client.ts'
import { decode } from '../../rpc/contract/schema.ts'
import { printable } from '../telemetry/terminal.ts'
import { nativeAsset } from './assets.ts'
import { EXIT } from './exit-codes.ts'
import { labelled } from './labels.ts'
import { outcomeText } from './outcome-text.ts'
import { nodeHint } from './place.ts'
import type { Proposal } from './proposal.ts'
import type { Session } from './session.ts'
import { amountText } from './values.ts'

const POLL_MS = 250
/** A node that refuses this often in a row is believed. One or two refusals may be a busy moment. */
const REFUSALS_MAX = 20
/** How long a command waits for a block. The transaction may still be mined afterwards. */
const WAIT_MS_MAX = 300_000

/** Waits until a transaction is mined, and shows its outcome. A transaction that failed is a fault. */
export async function awaitOutcome(session: Session, tx: Transaction, proposal: Proposal): Promise<number | Fault> {
  const { context, client } = session
  // If the command ends, the transaction goes on. Without this line the user might send it twice.
  context.note(
    `sent ${tx.txId}; waiting for its block (it goes on without this command: ${nodeHint(context, `tx ${tx.txId}`)})`,
  )
  const untilMs = Date.now() + WAIT_MS_MAX
  let refusals = 0
  for (;;) {
    const known = await client.transaction(tx.txId)
    if (known.ok && known.value.status === 'mined') return showOutcome(session, tx, proposal, known.value)
    refusals = known.ok || known.fault.code !== 'cli/refused' ? 0 : refusals + 1
    if (!known.ok && refusals >= REFUSALS_MAX) context.note(faultMessage(known.fault))
    if (refusals >= REFUSALS_MAX || Date.now() >= untilMs) return notKnown(tx)
    const { txId, body } = tx
    const { validUntil } = body
    const height = await client.expiredAt({ txId, validUntil, genesis: session.genesis })
    if (height !== null) return fault('cli/expired', { txId, validUntil, height })
    await setTimeout(POLL_MS)
  }
}

/** The outcome is unknown: the transaction may have been mined, or may still be. */
function notKnown({ txId, body: { validUntil } }: Transaction): Fault {
  return fault('cli/not-mined-yet', { txId, validUntil, flags: '' })
}

function showOutcome(
  session: Session,
  tx: Transaction,
  proposal: Proposal,
  { receipt: told, height = 0 }: TransactionView,
): number | Fault {
  const { print, printJson, flags } = session.context
  const receipt = decode(RECEIPT_PART, fieldsOf(told))
  if (receipt === undefined) {
    const message = `its answer has no receipt that this client understands, but ${tx.txId} is mined; do not send it again`
    return fault('cli/refused', { message })
  }
  const { success, outcome, fee } = receipt
  const amounts = receipt.amounts.map(String)
  const facts = {
    txId: tx.txId,
    kind: proposal.kind,
    status: 'mined',
    height,
    success,
    outcome,
    fee: String(fee),
    amounts,
  }
  if (flags.json !== undefined) printJson(facts)
  else if (success) print(successText(session, proposal, receipt, height))
  if (success) return EXIT.ok
  const detail = { txId: tx.txId, height, outcome: reasonText(receipt), fee: feeText(session, fee) }
  return fault('cli/transaction-failed', detail)
}

function successText(session: Session, { amounts }: Proposal, receipt: ReceiptView, height: number): string {
  const told = labelled(amounts, receipt.amounts.map(String))
  const parts = [...told, `fee ${feeText(session, receipt.fee)}`]
  return `done at height ${height}: ${parts.join(', ')}`
}

function feeText({ context }: Session, fee: bigint): string {
  return amountText(fee, nativeAsset(context))
}

function reasonText({ code, outcome }: ReceiptView): string {
  const known = outcomeCode(code)
  return known === undefined ? printable(outcome ?? `the unknown code ${code}`) : outcomeText(known)
}
