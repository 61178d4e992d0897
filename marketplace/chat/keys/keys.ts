import type { Result } from '../../../consensus/primitives/result.ts'
import type { ModelUsage } from '../../ports/models.ts'

/** Owner of the keys that the operator made. */
export const OPERATOR = 'operator'

/** Null means the limit of {@link OwnerBounds}. A value above that has no effect. */
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

/** Without its secret, which was shown once and is not stored. */
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
  /** On this day (UTC). */
  readonly usedToday: KeyUsage
  readonly usedInAll: KeyUsage
}

/** As in the `x-ratelimit-*` headers. Tokens reserved for running chats are subtracted. */
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
   * Ends the chat and counts its usage (null: no tokens). After an earlier `done` or `cancel` it does nothing. One of
   * the two must be called, or the slot and the reserved tokens are never released.
   */
  readonly done: (usage: ModelUsage | null) => void
  /** Ends a chat that never began. It does not count against the limits. */
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
  readonly concurrent: number
  /** Most live keys. */
  readonly keys: number
}

/** Absent fields stay. */
export interface KeyChange {
  readonly label?: string
  readonly limits?: KeyLimits
}

/** The API keys of the platform. Decisions about a request are synchronous: no other request comes between check and count. */
export interface ChatKeys {
  /** Limits of a key can only be lower. */
  readonly bounds: OwnerBounds
  /** The key in an `Authorization` header. The fault is `chat/invalid-key`. */
  readonly identify: (authorization: string | undefined) => Result<ChatKey>
  /**
   * The expected tokens (default none) are reserved until the chat ends. Faults: `chat/rate-limited`, and
   * `chat/invalid-key` if the key has ended meanwhile.
   */
  readonly admit: (key: ChatKey, expectedTokens?: () => number) => Result<ChatPass>
  readonly allowances: (key: ChatKey) => Pick<ChatPass, 'requests' | 'tokens'>
  /** Only this result shows the secret. Faults: `chat/keys-full`, `chat/no-room`, `chat/invalid-request`. */
  readonly create: (wanted: NewKey) => Promise<Result<{ readonly key: ChatKey; readonly secret: string }>>
  /** Changes a key of owner `by`, or any key for {@link OPERATOR}. Faults: `chat/no-key`, `chat/invalid-request`. */
  readonly change: (id: string, by: string, to: KeyChange) => Promise<Result<ChatKey>>
  /** Once it resolves, no request with the key is accepted. The fault is `chat/no-key`. */
  readonly revoke: (id: string, by: string) => Promise<Result<ChatKey>>
  /** Newest first. All keys for {@link OPERATOR}. */
  readonly list: (by: string) => readonly ChatKey[]
  /** Today (UTC), over all keys. */
  readonly usedToday: (owner: string) => KeyUsage
}
