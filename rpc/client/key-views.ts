import { fieldsOf, textOf } from './http.ts'
import { allOf, type Reader } from './ledger-views.ts'

/** What was used with an API key. */
export interface KeyUsageView {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
}

/** An API key as its node tells of it: never the key itself. */
export interface KeyView {
  readonly id: string
  readonly label: string
  readonly owner: string
  readonly state: string
  readonly limits: { readonly rpm: number | null; readonly tpd: number | null }
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly usedToday: KeyUsageView
  readonly usedInAll: KeyUsageView
}

/** A key with the secret that is shown once. */
export interface NewKeyView {
  readonly key: KeyView
  readonly secret: string
}

/** A page of keys; `nextCursor` is null on the last. */
export interface KeysView {
  readonly keys: readonly KeyView[]
  readonly nextCursor: string | null
}

/** Reads a key. */
export const readKey: Reader<KeyView> = (key) => {
  const { id, state, createdAt } = key
  const { rpm, tpd } = fieldsOf(key.limits)
  const [usedToday, usedInAll] = [usageOf(key.usedToday), usageOf(key.usedInAll)]
  if (typeof id !== 'string' || typeof state !== 'string' || typeof createdAt !== 'string') return undefined
  if (!isCountOrNull(rpm) || !isCountOrNull(tpd) || usedToday === undefined || usedInAll === undefined) return undefined
  const told = {
    id,
    label: textOf(key.label, ''),
    owner: textOf(key.owner, ''),
    state,
    limits: { rpm, tpd },
    createdAt,
  }
  const [lastUsedAt, expiresAt, revokedAt] = [key.lastUsedAt, key.expiresAt, key.revokedAt].map(textOrNull)
  const times = { lastUsedAt: lastUsedAt ?? null, expiresAt: expiresAt ?? null, revokedAt: revokedAt ?? null }
  return { ...told, ...times, usedToday, usedInAll }
}

/** Reads a key that was made. */
export const readNewKey: Reader<NewKeyView> = ({ key, secret }) => {
  const view = readKey(fieldsOf(key))
  return view !== undefined && typeof secret === 'string' ? { key: view, secret } : undefined
}

/** Reads a page of keys. */
export const readKeys: Reader<KeysView> = ({ keys, nextCursor }) => {
  const views = allOf(keys, readKey)
  return views === undefined ? undefined : { keys: views, nextCursor: textOrNull(nextCursor) }
}

function usageOf(value: unknown): KeyUsageView | undefined {
  const { requests, promptTokens, completionTokens } = fieldsOf(value)
  const are = isCount(requests) && isCount(promptTokens) && isCount(completionTokens)
  return are ? { requests, promptTokens, completionTokens } : undefined
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isCountOrNull(value: unknown): value is number | null {
  return value === null || isCount(value)
}
