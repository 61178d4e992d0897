import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'

/** Maximum length of optional context. */
export const CONTEXT_CHARS_MAX = 2_000

/** What a refusal shows about the service. */
export interface RequestForm {
  readonly example: string
  readonly requestFormat: string
}

/** A refusal of a request: what is wrong, and an example that works. */
export function refusal(reason: string, { example, requestFormat }: RequestForm): Fault {
  return fault('service/invalid-request', { reason, example, requestFormat })
}

/** The result for a request that a service cannot use. */
export function unusable(reason: string, form: RequestForm): Result<never> {
  return fail(refusal(reason, form))
}

/** Whether a request is empty: blank, or the empty JSON that clients send for "no input". */
export function isBlank(request: string): boolean {
  return /^(?:\{\s*\}|null|"")?$/.test(request.trim())
}
