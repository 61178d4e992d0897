import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { isUnanswered } from '../../rpc/client/http.ts'
import type { NodeClient } from '../../rpc/client/node-client.ts'

/** What became of a transaction that was handed to a node: taken, refused, or not known. */
export type Submission = 'taken' | 'unclear' | Fault

/** Hands a transaction over. Where no answer of the node came back it may have arrived. */
export async function submit(client: NodeClient, tx: Transaction): Promise<Submission> {
  const submitted = await client.submit(tx)
  if (submitted.ok) return 'taken'
  return isUnanswered(submitted.fault) ? 'unclear' : submitted.fault
}

/** Tells who does not wait for a transaction that it may have arrived: sent again it would be done twice. */
export function sentBlind({ txId, body: { validUntil } }: Transaction): Fault {
  return fault('cli/sent-blind', { txId, validUntil, flags: '' })
}
