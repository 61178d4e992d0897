import type { Fault } from '../../consensus/primitives/fault.ts'

/** Failures in a row, or share of the newest calls, that open the breaker. */
const IN_A_ROW_MAX = 5
const NEWEST = 20
const SHARE_MAX = 0.5
const PAUSE_MS_MIN = 30_000
const PAUSE_MS_MAX = 600_000
/** Longest pause that an upstream can ask for. */
const ASKED_MS_MAX = 3_600_000
/** Forbidden questions of paid work within this time count only once. */
const FORBIDDEN_MS = 15_000

/**
 * Stops calls to an upstream that fails: after five failures in a row, or if more than half of its last twenty calls
 * failed. After a pause one trial call is let through; each time it fails the pause doubles, up to ten minutes. A pause
 * that the upstream asks for begins at once and lasts up to an hour.
 */
export class UpstreamBreaker {
  #newest: boolean[] = []
  #inARow = 0
  /** Pauses since the last success; 0 while the breaker is closed. */
  #pauses = 0
  #openUntilMs = 0
  #trying = false

  /** Whether a call may be made. After a pause only one trial call is let through until its result is reported. */
  admit(nowMs: number): boolean {
    if (this.#pauses === 0) return true
    if (this.isOpen(nowMs)) return false
    this.#trying = true
    return true
  }

  /** Whether calls are refused; makes no claim to the trial call. */
  isOpen(nowMs: number): boolean {
    return this.#pauses > 0 && (this.#trying || this.#isPausing(nowMs))
  }

  /** Milliseconds until the end of the pause; 0 without a pause, and so during the trial call. */
  restMs(nowMs: number): number {
    return this.#isPausing(nowMs) ? this.#openUntilMs - nowMs : 0
  }

  /** A call succeeded. One that began before the pause does not end it. */
  succeeded(): void {
    if (this.#pauses > 0 && !this.#trying) return
    if (this.#trying) this.#newest = []
    this.#inARow = 0
    this.#pauses = 0
    this.#trying = false
    this.#note(true)
  }

  /** A call failed. `askedMs` is the pause that the upstream asked for, else 0. */
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

  /** A call ended without a result: the caller gave up. */
  abandoned(): void {
    this.#trying = false
  }

  get #isTooMuch(): boolean {
    const failures = this.#newest.filter((well) => !well).length
    return this.#inARow >= IN_A_ROW_MAX || (this.#newest.length === NEWEST && failures > NEWEST * SHARE_MAX)
  }

  /** A longer pause than the longest one can only come from a clock that was set back. */
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
  /** Whether the request was free. */
  readonly isFree: boolean
  readonly cause: FailureCause
}

/** What caused a failure: surely the upstream, perhaps the question, or most likely the question. */
export type FailureCause = 'upstream' | 'unclear' | 'question'

/** The cause of an upstream's fault. Status 403 mostly forbids the question, but may mean a closed account of the operator. */
export function causeOf({ code, detail: { status } }: Fault): FailureCause {
  if (code === 'model/unreachable' || code === 'provider/unreachable' || status === 401) return 'upstream'
  return status === 403 ? 'question' : 'unclear'
}

/**
 * One breaker of an upstream for paid work and one for free work. Free requests may cause failures on purpose at no
 * cost, so their failures count for paid work only if no question can have caused them. Failures of paid work count for
 * both breakers. Each breaker has its own trial calls.
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

  /** A call failed. Forbidden paid questions count only once in a while: one payer must not stop the calls of other payers. */
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
