import type { Fault } from '../../consensus/primitives/fault.ts'

/** Failures in a row, or share of the newest calls, from which on an upstream is left alone. */
const IN_A_ROW_MAX = 5
const NEWEST = 20
const SHARE_MAX = 0.5
const PAUSE_MS_MIN = 30_000
const PAUSE_MS_MAX = 600_000
/** Longest pause that an upstream may ask for itself. */
const ASKED_MS_MAX = 3_600_000
/** Of questions that are forbidden within this time one counts. */
const FORBIDDEN_MS = 15_000

/**
 * Leaves an upstream alone that fails: after five failures in a row, or when more than half of its last twenty calls failed. After
 * a pause one call is let through; while that fails the pause doubles, up to ten minutes. A pause that the upstream asks for
 * begins at once, and is kept up to an hour.
 */
export class UpstreamBreaker {
  #newest: boolean[] = []
  #inARow = 0
  /** Pauses since it last went well; 0 while calls are made. */
  #pauses = 0
  #openUntilMs = 0
  #trying = false

  /** Whether a call may be made now. Whoever is let through after a pause is alone until it says how it went. */
  admit(nowMs: number): boolean {
    if (this.#pauses === 0) return true
    if (this.isOpen(nowMs)) return false
    this.#trying = true
    return true
  }

  /** Whether calls are refused now, without asking for one. */
  isOpen(nowMs: number): boolean {
    return this.#pauses > 0 && (this.#trying || this.#isPausing(nowMs))
  }

  /** Time until calls are made again, milliseconds; 0 also while one is under way that shows whether they are. */
  restMs(nowMs: number): number {
    return this.#isPausing(nowMs) ? this.#openUntilMs - nowMs : 0
  }

  /** A call went well. One that began before the pause does not end it. */
  succeeded(): void {
    if (this.#pauses > 0 && !this.#trying) return
    if (this.#trying) this.#newest = []
    this.#inARow = 0
    this.#pauses = 0
    this.#trying = false
    this.#note(true)
  }

  /** A call failed; `askedMs` is the pause that the upstream asked for itself, if it did. */
  failed(nowMs: number, askedMs = 0): void {
    const asked = nowMs + Math.min(ASKED_MS_MAX, askedMs)
    if (!this.#trying && this.#isPausing(nowMs)) {
      // Calls that were under way together fail together: that is one reason for a pause, not many.
      this.#openUntilMs = Math.max(this.#openUntilMs, asked)
      return
    }
    this.#inARow += 1
    this.#note(false)
    this.#trying = false
    if (this.#pauses === 0 && !this.#isTooMuch && askedMs === 0) return
    const own = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(this.#pauses, 10))
    this.#pauses += 1
    this.#openUntilMs = Math.max(nowMs + own, asked)
  }

  /** A call ended without telling anything about the upstream: whoever asked gave up. */
  abandoned(): void {
    this.#trying = false
  }

  get #isTooMuch(): boolean {
    const failures = this.#newest.filter((well) => !well).length
    return this.#inARow >= IN_A_ROW_MAX || (this.#newest.length === NEWEST && failures > NEWEST * SHARE_MAX)
  }

  /** A pause that is longer than any was made by a clock that has been set back since. */
  #isPausing(nowMs: number): boolean {
    const leftMs = this.#openUntilMs - nowMs
    return this.#pauses > 0 && leftMs > 0 && leftMs <= ASKED_MS_MAX
  }

  #note(well: boolean): void {
    this.#newest = [...this.#newest.slice(-(NEWEST - 1)), well]
  }
}

/** A failure as breakers count it. */
export interface UpstreamFailure {
  /** The pause that the upstream asked for itself; 0 where it did not. */
  readonly askedMs: number
  /** Whether the request was free. */
  readonly isFree: boolean
  readonly cause: FailureCause
}

/** What a failure comes of: no question can have caused it, or one may have, or most likely has. */
export type FailureCause = 'upstream' | 'unclear' | 'question'

/** What a fault of an upstream comes of. One that forbids (403) judges the question, or has closed our account. */
export function causeOf({ code, detail: { status } }: Fault): FailureCause {
  if (code === 'model/unreachable' || code === 'provider/unreachable' || status === 401) return 'upstream'
  return status === 403 ? 'question' : 'unclear'
}

/**
 * The breaker of an upstream for paid work, and another for free work. What free requests fail at may be their own doing, and costs
 * their senders nothing: that keeps no paid work away. What paid work meets counts for both, and each has tries of its own.
 */
export class UpstreamBreakers {
  readonly #paid = new UpstreamBreaker()
  readonly #free = new UpstreamBreaker()
  #forbadeMs = Number.NEGATIVE_INFINITY

  /** {@link UpstreamBreaker.admit} */
  admit(nowMs: number, isFree: boolean): boolean {
    return this.#of(isFree).admit(nowMs)
  }

  /** {@link UpstreamBreaker.isOpen} */
  isOpen(nowMs: number, isFree: boolean): boolean {
    return this.#of(isFree).isOpen(nowMs)
  }

  /** {@link UpstreamBreaker.restMs} */
  restMs(nowMs: number, isFree: boolean): number {
    return this.#of(isFree).restMs(nowMs)
  }

  /** A call went well, paid or not. */
  succeeded(): void {
    this.#paid.succeeded()
    this.#free.succeeded()
  }

  /** A call failed. Of paid questions that are forbidden one counts once in a while: one payer with a few of them closes it to no other. */
  failed(nowMs: number, { askedMs, isFree, cause }: UpstreamFailure): void {
    if (!isFree && cause === 'question' && !this.#isFirstForbidden(nowMs)) {
      this.abandoned(isFree)
      return
    }
    this.#free.failed(nowMs, askedMs)
    if (!isFree || cause === 'upstream') this.#paid.failed(nowMs, askedMs)
  }

  #isFirstForbidden(nowMs: number): boolean {
    const sinceMs = nowMs - this.#forbadeMs
    if (sinceMs >= 0 && sinceMs < FORBIDDEN_MS) return false
    this.#forbadeMs = nowMs
    return true
  }

  /** {@link UpstreamBreaker.abandoned} */
  abandoned(isFree: boolean): void {
    this.#of(isFree).abandoned()
  }

  #of(isFree: boolean): UpstreamBreaker {
    return isFree ? this.#free : this.#paid
  }
}
