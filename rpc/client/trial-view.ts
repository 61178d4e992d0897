import { fieldsOf, textOf } from './http.ts'
import type { Reader } from './ledger-views.ts'

/** What came of running a service without a payment. */
export interface TrialView {
  readonly durationMs: number
  /** The result, or why there is none. */
  readonly outcome:
    | { readonly ok: true; readonly result: unknown }
    | { readonly ok: false; readonly code: string; readonly message: string }
}

/** Reads a trial. */
export const readTrial: Reader<TrialView> = ({ ok, durationMs, result, error }) => {
  if (typeof ok !== 'boolean' || typeof durationMs !== 'number') return undefined
  if (ok) return { durationMs, outcome: { ok, result } }
  const { code, message } = fieldsOf(error)
  return { durationMs, outcome: { ok, code: textOf(code, ''), message: textOf(message, '') } }
}
