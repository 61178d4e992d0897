import type { Clock } from '../../../consensus/chain/ports.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { type Marks, sameText } from './tokens.ts'

/** What a challenge is bound to. */
export interface ChallengePlace {
  /** Host of the node's public address, or else the host under which the browser asked for the page. */
  readonly host: string
  /** Name of the network and the beginning of its genesis id. */
  readonly network: string
  readonly token: string
}

const LIFE_MS = 300_000
/** Most signed challenges that are remembered. Each took a signature, and sign-ins are limited by address. */
const USED_MAX = 20_000
const FORM = / Valid until (\S{20,30})\. Nonce ([\w-]{43})\.$/

/**
 * Texts that a wallet signs to sign in. They are not stored: each holds an HMAC of this process over its text and the
 * browser's token. A signed challenge is valid once.
 */
export class Challenges {
  readonly #clock: Clock
  readonly #marks: Marks
  /** Nonces of signed challenges and when they expire, oldest first. */
  readonly #used = new Map<string, number>()

  constructor(clock: Clock, marks: Marks) {
    this.#clock = clock
    this.#marks = marks
  }

  /** A fresh challenge, as one line without quotation marks. */
  make(place: ChallengePlace): string {
    return this.#text(place, this.#clock.now() + LIFE_MS)
  }

  /** The nonce of a text that is a valid challenge of this place. The fault is `chat/sign-in`. */
  check(place: ChallengePlace, text: string): Result<string> {
    const [, until = '', nonce = ''] = FORM.exec(text) ?? []
    const untilMs = Date.parse(until)
    if (Number.isNaN(untilMs) || !sameText(this.#text(place, untilMs), text))
      return refused('the text that was signed is not the one that this page showed')
    if (untilMs <= this.#clock.now()) return refused('the text was signed too late: sign the one below')
    return this.#used.has(nonce) ? refused('this signature was used before: sign the text below') : ok(nonce)
  }

  /** Uses up the nonce of a well-signed challenge. The fault `chat/sign-in`: it was used, or too many wallets sign in. */
  use(nonce: string): Result<void> {
    const nowMs = this.#clock.now()
    for (const [old, overMs] of this.#used) {
      if (overMs > nowMs) break
      this.#used.delete(old)
    }
    if (this.#used.has(nonce)) return refused('this signature was used before: sign the text below')
    if (this.#used.size >= USED_MAX) return refused('too many sign in now: try again in some minutes')
    this.#used.set(nonce, nowMs + LIFE_MS)
    return ok(undefined)
  }

  #text({ host, network, token }: ChallengePlace, untilMs: number): string {
    const head = `Sign in to the Farthing dashboard of ${host} to make and end API keys. Network ${network}.`
    const said = `${head} Valid until ${new Date(untilMs).toISOString()}.`
    return `${said} Nonce ${this.#marks.of('challenge', `${token}\n${said}`)}.`
  }
}

function refused(reason: string): Result<never> {
  return fail(fault('chat/sign-in', { reason }))
}
