import type { ChatKey } from '../../../marketplace/chat/keys/keys.ts'
import type { API_KEY } from '../../contract/chat-keys.ts'
import type { Static } from '../../contract/schema.ts'
import { moment } from '../../json/chain-json.ts'

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
