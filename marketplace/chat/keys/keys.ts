import type { Result } from '../../../consensus/primitives/result.ts'
import type { ModelUsage } from '../../ports/models.ts'

/** Owner of the keys that the operator made. */
export const OPERATOR = 'operator'

/** Limits of a key. Null means the limit of {@link OwnerBounds}. A value above that has no effect. */
export interface KeyLimits {
  /** Chats within 60 seconds. */
  readonly rpm: number | null
  /** Tokens in a day (UTC). */
  readonly tpd: number | null
}

/** Use of a key. */
export interface KeyUsage {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
}

/** An API key without its secret. The secret was shown once and is not stored. */
export interface ChatKey {
  /** Eight characters: the public part of the key. */
  readonly id: string
  readonly label: string
  /** {@link OPERATOR}, or the address of the wallet that signed in, as text. */
  readonly owner: string
  readonly limits: KeyLimits
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  /** Only `live` keys are accepted. `lost`: the secret that sealed it is gone from the data folder. */
  readonly state: 'live' | 'revoked' | 'expired' | 'lost'
  /** Use on this day (UTC), and in total. */
  readonly usedToday: KeyUsage
  readonly usedInAll: KeyUsage
}

/** What is left of a limit, as in the `x-ratelimit-*` headers. Tokens that running chats have reserved are subtracted. */
export interface Allowance {
  readonly limit: number
  readonly remaining: number
  /** Time until the full limit is available again. */
  readonly resetMs: number
}

/** Permission for one chat. */
export interface ChatPass {
  readonly requests: Allowance
  readonly tokens: Allowance
  /**
   * Ends the chat and counts its usage. Null counts no tokens. After an earlier `done` or `cancel` it does nothing. One of the two must
   * be called: otherwise the slot and the reserved tokens of the chat are never released.
   */
  readonly done: (usage: ModelUsage | null) => void
  /** Ends a chat that never began. The chat does not count against the limits. */
  readonly cancel: () => void
}

/** Request for a new key. */
export interface NewKey {
  /** 1 to 60 characters without control characters. */
  readonly label: string
  readonly owner: string
  readonly limits: KeyLimits
  readonly expiresAtMs: number | null
}

/** Limits of a wallet over all its keys. For the operator: limits of each key, and the number of keys. */
export interface OwnerBounds {
  readonly rpm: number
  readonly tpd: number
  /** Concurrent chats. */
  readonly concurrent: number
  /** Most live keys. */
  readonly keys: number
}

/** Changes of a key. Absent fields stay. */
export interface KeyChange {
  readonly label?: string
  readonly limits?: KeyLimits
}

/** The API keys of the platform. Decisions about a request are synchronous: no other request comes between check and count. */
export interface ChatKeys {
  /** Limits of every owner. Limits of a key can only be lower. */
  readonly bounds: OwnerBounds
  /** The key in an `Authorization` header. The fault is `chat/invalid-key`. */
  readonly identify: (authorization: string | undefined) => Result<ChatKey>
  /**
   * Permission for one more chat, if no limit is used up. The expected tokens (default none) are reserved until it
   * ends. Faults: `chat/rate-limited`, and `chat/invalid-key` if the key has ended meanwhile.
   */
  readonly admit: (key: ChatKey, expectedTokens?: () => number) => Result<ChatPass>
  /** What is left for a key now, for response headers. */
  readonly allowances: (key: ChatKey) => Pick<ChatPass, 'requests' | 'tokens'>
  /**
   * Makes a durable key. Only this result shows the secret. Faults: `chat/keys-full`, `chat/no-room`, `chat/invalid-request`.
   */
  readonly create: (wanted: NewKey) => Promise<Result<{ readonly key: ChatKey; readonly secret: string }>>
  /** Changes a key of owner `by`, or any key for {@link OPERATOR}. Faults: `chat/no-key`, `chat/invalid-request`. */
  readonly change: (id: string, by: string, to: KeyChange) => Promise<Result<ChatKey>>
  /** Revokes a key. Once it resolves, no request with the key is accepted. The fault is `chat/no-key`. */
  readonly revoke: (id: string, by: string) => Promise<Result<ChatKey>>
  /** Keys of an owner, newest first. All keys for {@link OPERATOR}. */
  readonly list: (by: string) => readonly ChatKey[]
  /** Use of an owner today (UTC), over all keys. */
  readonly usedToday: (owner: string) => KeyUsage
}
