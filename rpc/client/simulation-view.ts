import { fieldsOf, textOf } from './http.ts'
import { allOf, amountOf, type Reader } from './ledger-views.ts'

/** A record that a transaction would change. `of` says which one it is; null before or after: it is not there. */
export interface ChangeView {
  readonly what: string
  readonly of: Readonly<Record<string, unknown>>
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

/** What a transaction would do in the next block, alone. */
export interface SimulationView {
  /** Whether a block could hold it now; if not, nothing would be charged. */
  readonly wouldMine: boolean
  /** Whether its payload would succeed. */
  readonly success: boolean
  /** Code of what it would fail with, null on success. */
  readonly code: string | null
  /** The node's sentence about what is wrong, null where it says none. */
  readonly error: string | null
  readonly fee: bigint
  readonly amounts: readonly string[]
  readonly changes: readonly ChangeView[]
}

/** The answer of `POST /api/v1/tx/simulate`. */
export const readSimulation: Reader<SimulationView> = (answer) => {
  const { wouldMine, success, code, fault, amounts } = answer
  const [fee, changes] = [amountOf(answer.fee), allOf(answer.changes, readChange)]
  if (typeof wouldMine !== 'boolean' || typeof success !== 'boolean') return undefined
  if (fee === undefined || changes === undefined) return undefined
  if (!Array.isArray(amounts) || !amounts.every((one) => amountOf(one) !== undefined)) return undefined
  const refusal = fieldsOf(fault)
  const error = typeof refusal.error === 'string' ? refusal.error : null
  const named = typeof code === 'string' ? code : success ? null : textOf(refusal.code, 'no code')
  return { wouldMine, success, code: named, error, fee, amounts, changes }
}

const readChange: Reader<ChangeView> = ({ what, of, before, after }) => {
  if (typeof what !== 'string') return undefined
  return { what, of: fieldsOf(of), before: recordOf(before), after: recordOf(after) }
}

function recordOf(value: unknown): ChangeView['before'] {
  return value === null || value === undefined ? null : fieldsOf(value)
}
