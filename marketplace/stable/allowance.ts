import { TokenBucket } from '../models/token-bucket.ts'
import { freeOf } from '../outside/free-places.ts'

/** Answers that are remembered, and for how long. */
const ANSWERS_MAX = 1_000
const MINUTE_MS = 60_000
/** How long an allowance is kept to that showed, and the longest pause that is believed. */
const KEPT_MS = 5 * MINUTE_MS
/** What was answered before nothing was asked for so long tells nothing of how much is answered. */
const QUIET_MS = 5_000
/** The shortest time that is believed to tell of a minute. */
const WITHIN_MS_MIN = 1_000

/**
 * How much a facilitator answers, as shows where it wants to be asked later: so many questions within so long, since it was asked without
 * a break. For a while newcomers then have three quarters of that, from however many addresses they come, and payers who have paid
 * lately find the rest.
 */
export class Allowance {
  #answersMs: readonly number[] = []
  #ofNewcomers: TokenBucket | null = null
  #perMinute = 0
  #untilMs = 0
  /** Whether newcomers were kept waiting since it showed last: what was answered then is what they were let ask. */
  #hasHeldBack = false

  /** Whether it showed lately. */
  isKnown(nowMs: number): boolean {
    return nowMs < this.#untilMs
  }

  /** Takes note of an answer. */
  answered(nowMs: number): void {
    this.#answersMs = [...this.#recent(nowMs), nowMs].slice(-ANSWERS_MAX)
  }

  /** Takes note that the facilitator wants to be asked again after a pause. */
  spent(nowMs: number, pauseMs: number): void {
    const answers = this.#sinceQuiet(nowMs)
    const withinMs = Math.max(WITHIN_MS_MIN, nowMs - (answers[0] ?? nowMs) + Math.min(KEPT_MS, pauseMs))
    const shown = (freeOf(answers.length) * MINUTE_MS) / withinMs
    this.#perMinute = this.isKnown(nowMs) && this.#hasHeldBack ? Math.max(shown, this.#perMinute) : shown
    this.#ofNewcomers = new TokenBucket(this.#perMinute, nowMs)
    this.#untilMs = nowMs + KEPT_MS
    this.#hasHeldBack = false
  }

  /** Milliseconds until a newcomer may ask; 0 is now. */
  newcomerWaitMs(nowMs: number): number {
    const waitMs = this.isKnown(nowMs) ? (this.#ofNewcomers?.waitMs(1, nowMs) ?? 0) : 0
    if (waitMs > 0) this.#hasHeldBack = true
    return waitMs
  }

  /** Takes note that a newcomer asks. */
  newcomerAsks(nowMs: number): void {
    this.#ofNewcomers?.take(1, nowMs)
  }

  #sinceQuiet(nowMs: number): readonly number[] {
    const answers = this.#recent(nowMs)
    const begin = answers.findLastIndex((ms, i) => ms - (answers[i - 1] ?? ms) >= QUIET_MS)
    return answers.slice(Math.max(0, begin))
  }

  #recent(nowMs: number): readonly number[] {
    return this.#answersMs.filter((ms) => ms > nowMs - MINUTE_MS)
  }
}
