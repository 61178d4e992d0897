import { TokenBucket } from '../models/token-bucket.ts'
import { freeOf } from '../outside/free-places.ts'

/** Answers that are remembered, and for how long. */
const ANSWERS_MAX = 1_000
const MINUTE_MS = 60_000
/** How long an allowance is kept to that showed, and the longest pause that is believed. */
const KEPT_MS = 5 * MINUTE_MS

/**
 * How much a facilitator answers, as shows where it wants to be asked later: so many questions within so long. For a while newcomers
 * then have three quarters of that, from however many addresses they come, and payers who have paid lately find the rest.
 */
export class Allowance {
  #answersMs: readonly number[] = []
  #ofNewcomers: TokenBucket | null = null
  #untilMs = 0

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
    const answers = this.#recent(nowMs)
    const withinMs = nowMs - (answers[0] ?? nowMs) + Math.min(KEPT_MS, pauseMs)
    this.#ofNewcomers = new TokenBucket((freeOf(answers.length) * MINUTE_MS) / withinMs, nowMs)
    this.#untilMs = nowMs + KEPT_MS
  }

  /** Milliseconds until a newcomer may ask; 0 is now. */
  newcomerWaitMs(nowMs: number): number {
    return this.isKnown(nowMs) ? (this.#ofNewcomers?.waitMs(1, nowMs) ?? 0) : 0
  }

  /** Takes note that a newcomer asks. */
  newcomerAsks(nowMs: number): void {
    this.#ofNewcomers?.take(1, nowMs)
  }

  #recent(nowMs: number): readonly number[] {
    return this.#answersMs.filter((ms) => ms > nowMs - MINUTE_MS)
  }
}
