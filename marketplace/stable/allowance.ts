import { TokenBucket } from '../models/token-bucket.ts'
import { freeOf } from '../outside/free-places.ts'

/** Answers that are remembered, and for how long. */
const ANSWERS_MAX = 1_000
const MINUTE_MS = 60_000
/** How long an allowance holds after it was seen, and the longest pause that is believed. */
const KEPT_MS = 5 * MINUTE_MS
/** Answers before a pause in our questions of this length are not counted: they do not show the limit. */
const QUIET_MS = 5_000
/** The shortest time that a rate a minute is worked out from. */
const WITHIN_MS_MIN = 1_000

/**
 * The rate at which a facilitator answers, learned when it asks for a pause: the questions that it answered until then, over the time since
 * the last break. For five minutes after that, payers that have not paid lately get three quarters of that rate together, and the rest is
 * kept for payers that have paid.
 */
export class Allowance {
  #answersMs: readonly number[] = []
  #ofNewcomers: TokenBucket | null = null
  #perMinute = 0
  #untilMs = 0
  /** Whether newcomers had to wait since then: a rate seen meanwhile is only what we asked, not what the facilitator allows. */
  #hasHeldBack = false

  /** Whether a rate was learned lately. */
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
