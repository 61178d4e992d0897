import { createHash } from 'node:crypto'
import type { Clock } from '../../consensus/chain/ports.ts'
import { OPERATOR } from '../../marketplace/chat/keys.ts'
import { freshToken } from './tokens.ts'

/** Somebody who is signed in. */
export interface Session {
  /** Owner of the keys: {@link OPERATOR}, or the address of a wallet. */
  readonly owner: string
  /** What the operator's secret was when it began: with another one it is over. */
  readonly stamp: string
  readonly beganMs: number
  readonly seenMs: number
  /** What the next form that makes a key brings along: one that is sent twice makes one key. */
  readonly turn: string
}

/** A session ends at the latest. */
const LIFE_MS = 12 * 3_600_000
/** A session ends that nobody used for so long. */
const IDLE_MS = 3_600_000
/** Sessions of the operator, and as many of all wallets: strangers' wallets must not end the operator's. */
export const SESSIONS_MAX = 512
const PER_OWNER_MAX = 8

/** Who is signed in. Kept in memory under hashes of the tokens: they end with the process. */
export class Sessions {
  readonly #clock: Clock
  /** The longest unused first. */
  readonly #sessions = new Map<string, Session>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Begins one; its token. Where there are too many, the longest unused of its kind ends. */
  begin(owner: string, stamp: string): string {
    this.#endOver()
    this.#endOldest(({ owner: name }) => name === owner, PER_OWNER_MAX)
    this.#endOldest(({ owner: name }) => (name === OPERATOR) === (owner === OPERATOR), SESSIONS_MAX)
    const token = freshToken()
    const nowMs = this.#clock.now()
    this.#sessions.set(nameOf(token), { owner, stamp, beganMs: nowMs, seenMs: nowMs, turn: freshToken() })
    return token
  }

  /** The session of a token, which counts as used by it; null where there is none any more. */
  find(token: string): Session | null {
    const name = nameOf(token)
    const session = this.#sessions.get(name)
    if (session === undefined) return null
    this.#sessions.delete(name)
    if (this.#isOver(session)) return null
    const seen = { ...session, seenMs: this.#clock.now() }
    this.#sessions.set(name, seen)
    return seen
  }

  /** Whether a form comes in its turn; then the next one is another's. */
  takeTurn(token: string, turn: string | undefined): boolean {
    const session = this.find(token)
    if (session === null || session.turn !== turn) return false
    this.#sessions.set(nameOf(token), { ...session, turn: freshToken() })
    return true
  }

  /** Ends one. */
  end(token: string): void {
    this.#sessions.delete(nameOf(token))
  }

  #isOver({ beganMs, seenMs }: Session): boolean {
    const nowMs = this.#clock.now()
    return nowMs - beganMs >= LIFE_MS || nowMs - seenMs >= IDLE_MS
  }

  #endOver(): void {
    for (const [name, session] of this.#sessions) if (this.#isOver(session)) this.#sessions.delete(name)
  }

  #endOldest(isMeant: (session: Session) => boolean, max: number): void {
    const meant = [...this.#sessions].filter(([, session]) => isMeant(session))
    for (const [name] of meant.slice(0, Math.max(0, meant.length - max + 1))) this.#sessions.delete(name)
  }
}

function nameOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
