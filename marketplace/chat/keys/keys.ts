import type { Result } from '../../../consensus/primitives/result.ts'
import type { ModelUsage } from '../../ports/models.ts'

/** Owner of the keys that the operator made. */
export const OPERATOR = 'operator'

/** What a key may use; null is what its owner may, and more than that comes to the same. */
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
  /** Whether it is let in; `lost` where the secret of the data folder that it was sealed under is gone. */
  readonly state: 'live' | 'revoked' | 'expired' | 'lost'
  /** Today (UTC), and since it was made. */
  readonly usedToday: KeyUsage
  readonly usedInAll: KeyUsage
}

/** How much of a limit is left, as the headers `x-ratelimit-*` say it; what is held for chats that are under way is not. */
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
  /**
   * To be called when the chat is over, with what it used; null where nothing was. A second call does nothing. Without it the
   * place of the chat and the tokens that are held for it are never given back.
   */
  readonly done: (usage: ModelUsage | null) => void
  /** To be called in place of that for a chat that was not even begun: it counts as none. */
  readonly cancel: () => void
}

/** What a new key is to be. */
export interface NewKey {
  /** From 1 to 60 characters, none of them a control character. */
  readonly label: string
  readonly owner: string
  readonly limits: KeyLimits
  readonly expiresAtMs: number | null
}

/** What a wallet may have and use, all of its keys together; of the operator, what each key may use, and how many there are. */
export interface OwnerBounds {
  readonly rpm: number
  readonly tpd: number
  /** Chats at once. */
  readonly concurrent: number
  /** Keys that are neither revoked nor expired. */
  readonly keys: number
}

/** What a change of a key sets; what is absent stays. */
export interface KeyChange {
  readonly label?: string
  readonly limits?: KeyLimits
}

/** The API keys of the platform. All that decides about a request is synchronous: it is asked before the body is read. */
export interface ChatKeys {
  /** What every owner may use; limits of a key only narrow it. */
  readonly bounds: OwnerBounds
  /** The key that an `Authorization` header shows. The fault is `chat/invalid-key`. */
  readonly identify: (authorization: string | undefined) => Result<ChatKey>
  /**
   * Leave for one more chat, where anything is left of each limit. The tokens that it is expected to use (none unless said) are held
   * until it is over. Faults: `chat/rate-limited`, and `chat/invalid-key` where the key has ended meanwhile.
   */
  readonly admit: (key: ChatKey, expectedTokens?: () => number) => Result<ChatPass>
  /** What is left for a key now, for the headers of an answer. */
  readonly allowances: (key: ChatKey) => Pick<ChatPass, 'requests' | 'tokens'>
  /** Makes a key and shows it, for the only time. Durable once it resolves. Faults: `chat/keys-full`, `chat/no-room`, `chat/invalid-request`. */
  readonly create: (wanted: NewKey) => Promise<Result<{ readonly key: ChatKey; readonly secret: string }>>
  /** Changes label or limits of a key of this owner; of anybody's for {@link OPERATOR}. Faults: `chat/no-key`, `chat/invalid-request`. */
  readonly change: (id: string, by: string, to: KeyChange) => Promise<Result<ChatKey>>
  /** Ends a key for good; once it resolves, no request with it is let in. The fault is `chat/no-key`. */
  readonly revoke: (id: string, by: string) => Promise<Result<ChatKey>>
  /** Keys of an owner, newest first; all of them for {@link OPERATOR}. */
  readonly list: (by: string) => readonly ChatKey[]
  /** What an owner has used today (UTC), with all keys together. */
  readonly usedToday: (owner: string) => KeyUsage
}
