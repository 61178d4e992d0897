import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { LABEL_CHARS_MAX } from './key-record.ts'
import type { KeyChange, NewKey } from './keys.ts'

/** Most that a limit of a key says. */
export const KEY_RPM_MAX = 1_000_000
/** Most tokens of a day that a limit of a key says. */
export const KEY_TPD_MAX = 999_999_999_999
/** Longest life of a key that ends by itself. */
export const EXPIRY_DAYS_MAX = 3_650

const DAY_MS = 86_400_000
/** What would let a label break a line, a terminal or the direction of a text. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
/** What can be seen. A link with nothing else cannot be followed. */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Z}\p{M}\p{Cn}\p{Co}]/u

/** A wish for a key or for a change of one, with its label trimmed. The fault is `chat/invalid-request` and names the field. */
export function readWish<W extends KeyChange | NewKey>(wish: W, nowMs: number): Result<W> {
  const { limits } = wish
  const label = wish.label?.trim()
  if (label !== undefined && (label === '' || label.length > LABEL_CHARS_MAX || !label.isWellFormed()))
    return refused('label', `it has from 1 to ${LABEL_CHARS_MAX} characters`)
  if (label !== undefined && CONTROLS.test(label)) return refused('label', 'it has no control characters')
  if (label !== undefined && !VISIBLE.test(label)) return refused('label', 'it has something in it that can be seen')
  if (limits !== undefined && !isLimit(limits.rpm, KEY_RPM_MAX))
    return refused('rpm', `it is a whole number from 1 to ${KEY_RPM_MAX}`)
  if (limits !== undefined && !isLimit(limits.tpd, KEY_TPD_MAX))
    return refused('tpd', `it is a whole number from 1 to ${KEY_TPD_MAX}`)
  const expiresAtMs = 'expiresAtMs' in wish ? wish.expiresAtMs : null
  if (expiresAtMs !== null && !(Number.isSafeInteger(expiresAtMs) && expiresAtMs > nowMs))
    return refused('expiry', 'it lies in the future')
  if (expiresAtMs !== null && expiresAtMs - nowMs > EXPIRY_DAYS_MAX * DAY_MS)
    return refused('expiry', `it is at most ${EXPIRY_DAYS_MAX} days away`)
  return ok(label === undefined ? wish : { ...wish, label })
}

function isLimit(value: number | null, max: number): boolean {
  return value === null || (Number.isSafeInteger(value) && value >= 1 && value <= max)
}

function refused(param: string, reason: string): Result<never> {
  return fail(fault('chat/invalid-request', { param, reason }))
}
