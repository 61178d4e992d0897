import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import { amountOf, type Reader } from './ledger-views.ts'

/** Outcome of a mined transaction; amounts in base units. */
export interface ReceiptView {
  readonly success: boolean
  /** Number of the outcome, 0 for success. */
  readonly code: number
  /** Code of what it failed with; null for success and for numbers that the node does not know. */
  readonly outcome: string | null
  readonly fee: Amount
  /** What the chain worked out, as its kind says. */
  readonly amounts: readonly Amount[]
}

/** A receipt of `/api/v1/tx/{txId}`. Its number alone says whether it is one of a success. */
export const readReceipt: Reader<ReceiptView> = ({ code, outcome, ...told }) => {
  const fee = amountOf(told.fee)
  const listed: readonly unknown[] | undefined = Array.isArray(told.amounts) ? told.amounts : undefined
  const amounts = listed?.flatMap((one) => amountOf(one) ?? [])
  if (fee === undefined || amounts === undefined || amounts.length !== listed?.length) return undefined
  if (!Number.isSafeInteger(code) || (code as number) < 0) return undefined
  const named = typeof outcome === 'string' ? outcome : null
  return { success: code === OUTCOME_OK, code: code as number, outcome: named, fee, amounts }
}
