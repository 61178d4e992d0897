import type { WithdrawalState } from '../../consensus/ledger/bridge-records.ts'
import type { Fact } from './facts.ts'
import type { Asking } from './reading.ts'

/** Ends of a paid call in words for its caller, by the event in a history or by `closure.how` of a transaction. */
export const CALL_ENDS: Readonly<Record<string, string>> = {
  delivered: 'delivered',
  failed: 'failed, paid back',
  refunded: 'expired, paid back',
  expired: 'expired, paid back',
}

/** Undefined if the node does not tell. */
export async function withdrawalState(txId: string, { client }: Asking): Promise<WithdrawalState | undefined> {
  const withdrawal = await client.withdrawal(txId)
  return withdrawal.ok ? withdrawal.value.status : undefined
}

/** Where the tokens of a withdrawal go: to the recipient once it is released, back to the sender if cancelled. */
export function payoutFact(state: unknown, amount: string | undefined, receives: string | undefined): Fact {
  if (state === 'cancelled') return ['Given back', amount]
  return [state === 'released' ? 'Paid out' : 'To be paid out', receives]
}
