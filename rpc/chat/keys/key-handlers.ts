import { fault } from '../../../consensus/primitives/fault.ts'
import { type ChatKey, type KeyChange, OPERATOR } from '../../../marketplace/chat/keys/keys.ts'
import type { API_KEY } from '../../contract/chat-keys.ts'
import type { Static } from '../../contract/schema.ts'
import { moment } from '../../json/chain-json.ts'
import { answer, type Handler } from '../../server/answer.ts'
import { badCursor } from '../../server/at-head.ts'

const DAY_MS = 86_400_000
const LIMIT_DEFAULT = 50
/** Caches must not keep answers about keys. */
const NOT_KEPT = { 'cache-control': 'no-store' }

/** Keys of all owners. */
export const listKeys: Handler<'listKeys'> = ({ chat }, { query }) => {
  if (chat == null) return fault('chat/off')
  const all = chat.keys.list(OPERATOR)
  const { limit = LIMIT_DEFAULT, cursor } = query
  // If the cursor's key was deleted meanwhile, its place in the list is lost.
  const from = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1
  if (cursor !== undefined && from === 0) return badCursor()
  const page = all.slice(from, from + limit)
  const last = page.at(-1)
  const nextCursor = from + page.length < all.length && last !== undefined ? last.id : null
  return { status: 200, json: { keys: page.map(keyJson), nextCursor }, headers: NOT_KEPT }
}

/** Makes a key of the operator. */
export const createKey: Handler<'createKey'> = async ({ chat, clock }, { body }) => {
  if (chat == null) return fault('chat/off')
  const { label = '', rpm = null, tpd = null, expiresInDays = null } = body
  const expiresAtMs = expiresInDays === null ? null : clock.now() + expiresInDays * DAY_MS
  const made = await chat.keys.create({ label, owner: OPERATOR, limits: { rpm, tpd }, expiresAtMs })
  if (!made.ok) return made.fault
  const { key, secret } = made.value
  return { status: 201, json: { key: keyJson(key), secret }, headers: NOT_KEPT }
}

/** Renames a key, or sets its limits. */
export const changeKey: Handler<'changeKey'> = async ({ chat }, { params, body }) => {
  if (chat == null) return fault('chat/off')
  const id = params.id
  const known = chat.keys.list(OPERATOR).find((key) => key.id === id)
  if (known === undefined) return fault('chat/no-key', { id })
  const { label, rpm = known.limits.rpm, tpd = known.limits.tpd } = body
  const to: KeyChange = { limits: { rpm, tpd }, ...(label !== undefined && { label }) }
  const changed = await chat.keys.change(id, OPERATOR, to)
  return changed.ok ? answer(keyJson(changed.value)) : changed.fault
}

/** Revokes a key. */
export const revokeKey: Handler<'revokeKey'> = async ({ chat }, { params }) => {
  if (chat == null) return fault('chat/off')
  const revoked = await chat.keys.revoke(params.id, OPERATOR)
  return revoked.ok ? answer(keyJson(revoked.value)) : revoked.fault
}

/** An API key as the API shows it. */
export function keyJson({
  id,
  label,
  owner,
  state,
  limits,
  usedToday,
  usedInAll,
  ...times
}: ChatKey): Static<typeof API_KEY> {
  const { createdAtMs, lastUsedAtMs, expiresAtMs, revokedAtMs } = times
  return {
    id,
    label,
    owner,
    state,
    limits,
    createdAt: moment(createdAtMs),
    lastUsedAt: momentOrNull(lastUsedAtMs),
    expiresAt: momentOrNull(expiresAtMs),
    revokedAt: momentOrNull(revokedAtMs),
    usedToday,
    usedInAll,
  }
}

function momentOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : moment(timeMs)
}
