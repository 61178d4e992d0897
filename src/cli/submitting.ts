import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { isUnanswered } from '../../rpc/client/http.ts'
import type { NodeClient } from '../../rpc/client/node-client.ts'

/** Result of handing a transaction to a node. It is 'unclear' if no answer came back. */
export type Submission = 'taken' | 'unclear' | Fault

/** Hands a transaction to a node. */
export async function submit(client: NodeClient, tx: Transaction): Promise<Submission> {
  const submitted = await client.submit(tx)
  if (submitted.ok) return 'taken'
  return isUnanswered(submitted.fault) ? 'unclear' : submitted.fault
}

/** The fault for a user who does not wait: the transaction may have arrived, and sending it again could do it twice. */
export function sentBlind({ txId, body: { validUntil } }: Transaction): Fault {
  return fault('cli/sent-blind', { txId, validUntil, flags: '' })
}
