import { createHash } from 'node:crypto'
import type { Clock } from '../../../consensus/chain/ports.ts'
import { type Holder, heldTooMany } from '../../../consensus/primitives/fair-share.ts'
import { OPERATOR } from '../../../marketplace/chat/keys/keys.ts'
import { freshToken } from './tokens.ts'

/** The session of a signed-in user. */
export interface Session {
  /** Owner of the keys: {@link OPERATOR}, or the address of a wallet. */
  readonly owner: string
  /** Stamp of the operator's secret when the operator's session began: a new secret ends it. Empty for wallets. */
  readonly stamp: string
  readonly holder: Holder
  readonly beganMs: number
  readonly seenMs: number
  /** Token in the next form that makes a key. It is good once, so a form that is sent twice makes one key. */
  readonly turn: string
}

const LIFE_MS = 12 * 3_600_000
const IDLE_MS = 3_600_000
/** Most sessions of all wallets. The operator's do not count here, so strangers' wallets cannot end them. */
export const SESSIONS_MAX = 512
/** For the operator, and for each wallet. */
const PER_OWNER_MAX = 8

/** Sessions in memory, by the hashes of their tokens. They end with the process. */
export class Sessions {
  readonly #clock: Clock
  /** By hash of the token, longest unused first. */
  readonly #sessions = new Map<string, Session>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Begins a session and returns its token. An owner with too many loses the longest unused. If all wallets together have
   * too many, a network or client with too many loses one ({@link heldTooMany}), else the network of `holder`, else any wallet:
   * wallets cost nothing, so a client with many wallets must not keep other users out.
   */
  begin({ owner, stamp, holder }: Pick<Session, 'owner' | 'stamp' | 'holder'>): string {
    this.#endOver()
    const own = this.#those((session) => session.owner === owner)
    if (own.length >= PER_OWNER_MAX) this.#endFirst(own)
    if (owner !== OPERATOR) this.#makeRoom(holder)
    const token = freshToken()
    const nowMs = this.#clock.now()
    this.#sessions.set(nameOf(token), { owner, stamp, holder, beganMs: nowMs, seenMs: nowMs, turn: freshToken() })
    return token
  }

  /** The session of a token, which then counts as used. */
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

  /** Whether a form brings the session's turn token, which is then replaced. */
  takeTurn(token: string, turn: string | undefined): boolean {
    const session = this.find(token)
    if (session === null || session.turn !== turn) return false
    this.#sessions.set(nameOf(token), { ...session, turn: freshToken() })
    return true
  }

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

  #makeRoom(holder: Holder): void {
    const wallets = this.#those(({ owner }) => owner !== OPERATOR)
    if (wallets.length < SESSIONS_MAX) return
    const tooMany = heldTooMany(wallets, holder)
    const own = wallets.filter((session) => session.holder.network === holder.network)
    this.#endFirst([tooMany, own, wallets].find(({ length }) => length > 0) ?? [])
  }

  /** Longest unused first. */
  #those(isMeant: (session: Session) => boolean): readonly (Session & { readonly name: string })[] {
    return [...this.#sessions].flatMap(([name, session]) => (isMeant(session) ? [{ ...session, name }] : []))
  }

  #endFirst([first]: readonly { readonly name: string }[]): void {
    if (first !== undefined) this.#sessions.delete(first.name)
  }
}

function nameOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
