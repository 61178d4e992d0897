import type { Result } from '../../consensus/primitives/result.ts'
import type { ModelUsage } from '../outside/models.ts'

/** Owner of the keys that the operator made. */
export const OPERATOR = 'operator'

/** What a key may use; null is what its owner may. */
export interface KeyLimits {
  /** Chats within 60 seconds. */
  readonly rpm: number | null
  /** Tokens of a day (UTC). */
  readonly tpd: number | null
}

/** What was used with a key. */
export interface KeyUsage {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
}

/** An API key as it is shown: never the key itself, which nobody has but whom it was shown to once. */
export interface ChatKey {
  /** Eight characters, the part of the key that is no secret. */
  readonly id: string
  readonly label: string
  /** {@link OPERATOR}, or the address of the wallet that signed in, in text form. */
  readonly owner: string
  readonly limits: KeyLimits
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  /** Today (UTC), and since it was made. */
  readonly usedToday: KeyUsage
  readonly usedInAll: KeyUsage
}

/** How much of a limit is left, as the headers `x-ratelimit-*` say it. */
export interface Allowance {
  readonly limit: number
  readonly remaining: number
  /** Time until all of it is there again. */
  readonly resetMs: number
}

/** Leave for one chat. */
export interface ChatPass {
  readonly requests: Allowance
  readonly tokens: Allowance
  /** To be called once, when the chat is over, with what it used; null where nothing is known of it. */
  readonly done: (usage: ModelUsage | null) => void
}

/** What a new key is to be. */
export interface NewKey {
  /** From 1 to 60 characters. */
  readonly label: string
  readonly owner: string
  readonly limits: KeyLimits
  readonly expiresAtMs: number | null
}

/** The API keys of the platform. All that decides about a request is synchronous: it is asked before the body is read. */
export interface ChatKeys {
  /** The key that an `Authorization` header shows. The fault is `chat/invalid-key`. */
  readonly identify: (authorization: string | undefined) => Result<ChatKey>
  /** Leave for one more chat. Faults: `chat/rate-limited`, `chat/busy`. */
  readonly admit: (key: ChatKey) => Result<ChatPass>
  /** Makes a key and shows it, for the only time. Durable once it resolves. The fault is `chat/keys-full`. */
  readonly create: (wanted: NewKey) => Promise<Result<{ readonly key: ChatKey; readonly secret: string }>>
  /** Changes label or limits of a key of this owner; of anybody's for {@link OPERATOR}. The fault is `chat/no-key`. */
  readonly change: (id: string, by: string, to: Partial<Pick<ChatKey, 'label' | 'limits'>>) => Promise<Result<ChatKey>>
  /** Ends a key for good; once it resolves, no request with it is let in. The fault is `chat/no-key`. */
  readonly revoke: (id: string, by: string) => Promise<Result<ChatKey>>
  /** Keys of an owner, newest first; all of them for {@link OPERATOR}. */
  readonly list: (by: string) => readonly ChatKey[]
}
