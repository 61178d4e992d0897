import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'

/** Longest text accepted where a request is optional context. */
export const CONTEXT_CHARS_MAX = 2_000

/** What a refusal shows of a service. */
export interface RequestForm {
  readonly example: string
  readonly requestFormat: string
}

/** Why a service cannot use a request: what is wrong, and what would work. */
export function refusal(reason: string, { example, requestFormat }: RequestForm): Fault {
  return fault('service/invalid-request', { reason, example, requestFormat })
}

/** A request that a service cannot use. */
export function unusable(reason: string, form: RequestForm): Result<never> {
  return fail(refusal(reason, form))
}

/** Whether a request asks for nothing in particular: it is blank, or the empty JSON that clients send for no input. */
export function isBlank(request: string): boolean {
  return /^(?:\{\s*\}|null|"")?$/.test(request.trim())
}
