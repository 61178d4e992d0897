import type { Fault } from '../../consensus/primitives/fault.ts'

/** The breaker opens after this many failures in a row, or above this share of failures among the newest calls. */
const IN_A_ROW_MAX = 5
const NEWEST = 20
const SHARE_MAX = 0.5
const PAUSE_MS_MIN = 30_000
const PAUSE_MS_MAX = 600_000
/** An upstream that asks for a longer pause gets this one. */
const ASKED_MS_MAX = 3_600_000
/** Within this time, forbidden questions of paid work count as one failure. */
const FORBIDDEN_MS = 15_000

/**
 * Stops calls to an upstream that fails. After a pause one trial call is let through; each time it fails the pause
 * doubles. A pause that the upstream asks for begins at once.
 */
export class UpstreamBreaker {
  #newest: boolean[] = []
  #inARow = 0
  /** Pauses since the last success; 0 while the breaker is closed. */
  #pauses = 0
  #openUntilMs = 0
  #trying = false

  /** After a pause only one trial call is let through until its result is reported. */
  admit(nowMs: number): boolean {
    if (this.#pauses === 0) return true
    if (this.isOpen(nowMs)) return false
    this.#trying = true
    return true
  }

  /** Unlike {@link admit}, it does not take the trial call. */
  isOpen(nowMs: number): boolean {
    return this.#pauses > 0 && (this.#trying || this.#isPausing(nowMs))
  }

  /** 0 without a pause, and so during the trial call. */
  restMs(nowMs: number): number {
    return this.#isPausing(nowMs) ? this.#openUntilMs - nowMs : 0
  }

  /** A call that began before the pause does not end it. */
  succeeded(): void {
    if (this.#pauses > 0 && !this.#trying) return
    if (this.#trying) this.#newest = []
    this.#inARow = 0
    this.#pauses = 0
    this.#trying = false
    this.#note(true)
  }

  /** `askedMs` is the pause that the upstream asked for, else 0. */
  failed(nowMs: number, askedMs = 0): void {
    const asked = nowMs + Math.min(ASKED_MS_MAX, askedMs)
    if (!this.#trying && this.#isPausing(nowMs)) {
      // Calls in progress at the same time fail together. They count as one failure.
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

  /** A call ended without a result, because its caller gave up. */
  abandoned(): void {
    this.#trying = false
  }

  get #isTooMuch(): boolean {
    const failures = this.#newest.filter((well) => !well).length
    return this.#inARow >= IN_A_ROW_MAX || (this.#newest.length === NEWEST && failures > NEWEST * SHARE_MAX)
  }

  /** If more than the longest pause is left, the clock was set back. */
  #isPausing(nowMs: number): boolean {
    const leftMs = this.#openUntilMs - nowMs
    return this.#pauses > 0 && leftMs > 0 && leftMs <= ASKED_MS_MAX
  }

  #note(well: boolean): void {
    this.#newest = [...this.#newest.slice(-(NEWEST - 1)), well]
  }
}

/** A failed call, for the breakers. */
export interface UpstreamFailure {
  /** The pause that the upstream asked for, else 0. */
  readonly askedMs: number
  readonly isFree: boolean
  readonly cause: FailureCause
}

/** What caused a failure: surely the upstream, perhaps the question, or most likely the question. */
export type FailureCause = 'upstream' | 'unclear' | 'question'

/** Status 403 mostly forbids the question, but may mean a closed account of the operator. */
export function causeOf({ code, detail: { status } }: Fault): FailureCause {
  if (code === 'model/unreachable' || code === 'provider/unreachable' || status === 401) return 'upstream'
  return status === 403 ? 'question' : 'unclear'
}

/**
 * One breaker for paid work and one for free work. Free requests may cause failures on purpose at no cost, so their
 * failures count for paid work only if no question can have caused them. Failures of paid work count for both.
 */
export class UpstreamBreakers {
  readonly #paid = new UpstreamBreaker()
  readonly #free = new UpstreamBreaker()
  #forbadeMs = Number.NEGATIVE_INFINITY

  admit(nowMs: number, isFree: boolean): boolean {
    return this.#of(isFree).admit(nowMs)
  }

  isOpen(nowMs: number, isFree: boolean): boolean {
    return this.#of(isFree).isOpen(nowMs)
  }

  restMs(nowMs: number, isFree: boolean): number {
    return this.#of(isFree).restMs(nowMs)
  }

  succeeded(): void {
    this.#paid.succeeded()
    this.#free.succeeded()
  }

  /** Forbidden paid questions count only once in a while: one payer must not stop the calls of other payers. */
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

  abandoned(isFree: boolean): void {
    this.#of(isFree).abandoned()
  }

  #of(isFree: boolean): UpstreamBreaker {
    return isFree ? this.#free : this.#paid
  }
}
