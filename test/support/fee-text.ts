import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { weightOf } from '../../consensus/tx/weight.ts'

/** The fee of a transaction at a rate, as refusals write it. */
export function feeText(tx: Transaction, rate: bigint): string {
  return `${formatAmount(BigInt(weightOf(tx, LAUNCH_RULES.tx)) * rate, 8)} FAR`
}
