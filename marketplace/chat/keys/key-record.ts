import type { DayUsage } from './key-quota.ts'
import type { ChatKey, KeyUsage } from './keys.ts'

/** A stored chat key. It holds a seal, never the key itself. */
export interface KeyRecord extends Omit<ChatKey, 'usedToday' | 'usedInAll' | 'state'> {
  /** HMAC-SHA-256 of the key under the secret of the data folder, in hex. */
  readonly seal: string
  /** Name of that secret. No key matches under another one. */
  readonly sealedBy: string
  readonly today: DayUsage
  readonly inAll: KeyUsage
}

/** The use of a day over all keys, including deleted ones. */
export interface OwnerRecord extends DayUsage {
  readonly owner: string
}

/** Longest label of a key, in UTF-16 units. */
export const LABEL_CHARS_MAX = 60
const OWNER_CHARS_MAX = 200
/** The last time that a Date can represent (ECMA-262, 21.4.1.1). Formatting a later one throws. */
const MOMENT_MS_MAX = 8_640_000_000_000_000

/** Undefined if the record is unusable. Unknown fields are dropped. */
export function readKeyRecord(json: string): KeyRecord | undefined {
  const fields = objectOf(json)
  if (fields === undefined) return undefined
  const { id, label, owner, seal, sealedBy, createdAtMs } = fields
  const limits = objectIn(fields.limits)
  const today = readDay(fields.today)
  const inAll = readUsage(fields.inAll)
  if (!isText(id, 8) || !isText(label, LABEL_CHARS_MAX) || !isText(owner, OWNER_CHARS_MAX)) return undefined
  if (!isText(seal, 64) || !isText(sealedBy, 64) || !isMoment(createdAtMs)) return undefined
  const { lastUsedAtMs, expiresAtMs, revokedAtMs } = fields
  if (!isMomentOrNull(lastUsedAtMs) || !isMomentOrNull(expiresAtMs) || !isMomentOrNull(revokedAtMs)) return undefined
  if (limits === undefined || today === undefined || inAll === undefined) return undefined
  const { rpm, tpd } = limits
  if (!isCountOrNull(rpm) || !isCountOrNull(tpd)) return undefined
  const told = { id, label, owner, seal, sealedBy, createdAtMs }
  return { ...told, limits: { rpm, tpd }, lastUsedAtMs, expiresAtMs, revokedAtMs, today, inAll }
}

/** Undefined if the record is unusable. */
export function readOwnerRecord(json: string): OwnerRecord | undefined {
  const fields = objectOf(json)
  const usage = readDay(fields)
  const owner = fields?.owner
  return usage !== undefined && isText(owner, OWNER_CHARS_MAX) ? { owner, ...usage } : undefined
}

function readDay(value: unknown): DayUsage | undefined {
  const usage = readUsage(value)
  const day = objectIn(value)?.day
  return usage !== undefined && isCount(day) ? { day, ...usage } : undefined
}

function readUsage(value: unknown): KeyUsage | undefined {
  const { requests, promptTokens, completionTokens } = objectIn(value) ?? {}
  const are = isCount(requests) && isCount(promptTokens) && isCount(completionTokens)
  return are ? { requests, promptTokens, completionTokens } : undefined
}

function objectOf(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectIn(JSON.parse(json))
  } catch {
    return undefined
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
}

function isText(value: unknown, charsMax: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= charsMax
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isCountOrNull(value: unknown): value is number | null {
  return value === null || isCount(value)
}

function isMoment(value: unknown): value is number {
  return isCount(value) && value <= MOMENT_MS_MAX
}

function isMomentOrNull(value: unknown): value is number | null {
  return value === null || isMoment(value)
}
