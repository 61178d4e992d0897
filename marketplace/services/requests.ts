import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** Longest text accepted where a request is optional context. */
export const CONTEXT_CHARS_MAX = 2_000

/** A request that a service cannot use: what is wrong, and what would work. */
export function unusable(
  reason: string,
  { example, requestFormat }: { readonly example: string; readonly requestFormat: string },
): Result<never> {
  return fail(fault('service/invalid-request', { reason, example, requestFormat }))
}

/** Optional context: any text, ignored. */
export function parseContext(): Result<null> {
  return ok(null)
}
