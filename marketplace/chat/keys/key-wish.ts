import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { LABEL_CHARS_MAX } from './key-record.ts'
import type { KeyChange, NewKey } from './keys.ts'

/** Highest limit of a key, in chats a minute. */
export const KEY_RPM_MAX = 1_000_000
/** Highest limit of a key, in tokens a day. */
export const KEY_TPD_MAX = 999_999_999_999
/** Longest lifetime of a key that expires, in days. */
export const EXPIRY_DAYS_MAX = 3_650

const DAY_MS = 86_400_000
/** Characters with which a label could break a line, a terminal or the text direction. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
/** Visible characters. A link with an invisible label could not be clicked. */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Z}\p{M}\p{Cn}\p{Co}]/u

/** Trims the label. `chat/invalid-request` names the field. */
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
