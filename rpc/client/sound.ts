import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { NodeAnswer } from './http.ts'
import type { Reader } from './ledger-views.ts'

/** What a reader makes of an answer, or a refusal of what it cannot read. */
export function sound<T>(path: string, answer: Result<NodeAnswer['body']>, reader: Reader<T>): Result<T> {
  if (!answer.ok) return answer
  const value = reader(answer.value)
  return value === undefined
    ? fail(
        fault('cli/refused', {
          message: `its answer at ${path.replace(/\?.*/, '')} is not what this client understands`,
        }),
      )
    : ok(value)
}
