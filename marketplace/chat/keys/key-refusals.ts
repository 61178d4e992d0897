import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../../consensus/primitives/result.ts'
import type { ChatKey } from './keys.ts'

/** Why a key that is not live is refused, by its state. */
export const WHY_NOT: Readonly<Record<Exclude<ChatKey['state'], 'live'>, string>> = {
  revoked: 'it was revoked',
  expired: 'it has expired',
  lost: 'the secret that it was made under is gone from this node',
}

/** The fault `chat/invalid-key`. */
export function invalid(reason: string): Result<never> {
  return fail(fault('chat/invalid-key', { reason }))
}

/** The fault `chat/rate-limited`, with the time to wait. */
export function limited(what: string, waitMs: number): Result<never> {
  return fail(fault('chat/rate-limited', { what, seconds: Math.max(1, Math.ceil(waitMs / 1_000)) }))
}
