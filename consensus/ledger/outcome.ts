import type { FaultCode } from '../primitives/fault-table.ts'

/** Number of success in receipts. */
export const OUTCOME_OK = 0

/**
 * Numbers that receipts carry for failed transactions and receipt entries. Consensus: a number is never changed or
 * reused.
 */
export const OUTCOME_NUMBERS = {
  'ledger/invariant': 1,
  'ledger/no-account': 2,
  'ledger/insufficient-balance': 3,
  'ledger/agent-exists': 16,
  'ledger/agent-unknown': 17,
  'ledger/not-owner': 18,
  'ledger/payout-no-account': 19,
  'ledger/service-unknown': 20,
  'ledger/service-retired': 21,
  'receipt/closed': 32,
  'receipt/foreign': 33,
  'receipt/bad-opener': 34,
} as const satisfies Partial<Record<FaultCode, number>>

/** A fault that a mined transaction or entry can end with. */
export type OutcomeCode = keyof typeof OUTCOME_NUMBERS

const BY_NUMBER = new Map<number, OutcomeCode>(
  Object.entries(OUTCOME_NUMBERS).map(([code, number]) => [number, code as OutcomeCode]),
)

/** The fault code behind a receipt's number: undefined for success and for numbers this release does not know. */
export function outcomeCode(number: number): OutcomeCode | undefined {
  return BY_NUMBER.get(number)
}
