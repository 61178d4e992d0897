import type { WithdrawalState } from '../../consensus/ledger/bridge-records.ts'
import type { Fact } from './facts.ts'
import type { Asking } from './reading.ts'

/** Ends of a paid call in words for its caller, by the event of a history or by what the node says of the payment. */
export const CALL_ENDS: Readonly<Record<string, string>> = {
  delivered: 'delivered',
  failed: 'failed, paid back',
  refunded: 'expired, paid back',
  expired: 'expired, paid back',
}

/** How far a withdrawal has come; undefined where the node does not say. */
export async function withdrawalState(txId: string, { client }: Asking): Promise<WithdrawalState | undefined> {
  const withdrawal = await client.withdrawal(txId)
  return withdrawal.ok ? withdrawal.value.status : undefined
}

/** What becomes of the tokens of a withdrawal: its recipient has them only once it is released, its sender again where it was cancelled. */
export function payoutFact(state: unknown, amount: string | undefined, receives: string | undefined): Fact {
  if (state === 'cancelled') return ['Given back', amount]
  return [state === 'released' ? 'Paid out' : 'To be paid out', receives]
}
