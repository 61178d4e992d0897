import { TokenBucket } from '../../../chat/models/token-bucket.ts'
import { freeOf } from '../../../ports/free-places.ts'

const ANSWERS_MAX = 1_000
const MINUTE_MS = 60_000
/** How long a learned rate holds, and the longest pause that is believed. */
const KEPT_MS = 5 * MINUTE_MS
/** Answers before a gap of this length do not show the limit. */
const QUIET_MS = 5_000
/** If the pauses of one minute add up to this, the facilitator was asked as much as it answers. */
const RESTS_MS = 15_000
/** Shortest time from which a rate per minute is computed. */
const WITHIN_MS_MIN = 1_000

/** Repeated settlements may use one in four of the newcomers' questions. */
const REPEATS_PART = 4

/**
 * Kinds of questions that leave a part of the rate to payers that have paid: about payments of newcomers, about payments without proof that
 * the payer's own key signed, and repeated settlements.
 */
export type Sharer = 'newcomer' | 'unproven' | 'repeat'

interface Rest {
  readonly atMs: number
  readonly forMs: number
}

/**
 * The rate at which a facilitator answers, learned whenever it asks for a pause: its answers since the last gap, over the time from the
 * first of these answers to the end of the pause. If its pauses show that it was asked as much as it answers, all answers of the last
 * minute count instead: a few between two pauses show nothing. Newcomers and repeated settlements get only a part of the rate; the rest is
 * kept for payers that have paid.
 */
export class Allowance {
  #answersMs: readonly number[] = []
  #rests: readonly Rest[] = []
  #ofNewcomers: TokenBucket | null = null
  #ofRepeats: TokenBucket | null = null
  #perMinute = 0
  #untilMs = 0
  /** Whether newcomers had to wait since the last pause. Then a lower rate shows only how much this node asked. */
  #hasHeldBack = false
  /** Whether the facilitator was asked as much as it answers when the rate was learned. A mere burst later does not change such a rate. */
  #isMeasured = false

  isKnown(nowMs: number): boolean {
    return nowMs < this.#untilMs
  }

  answered(nowMs: number): void {
    this.#answersMs = [...this.#recent(nowMs), nowMs].slice(-ANSWERS_MAX)
  }

  /** Notes that the facilitator asks for a pause, and computes the rate. */
  spent(nowMs: number, pauseMs: number): void {
    this.#rests = [...this.#rests, { atMs: nowMs, forMs: pauseMs }].filter(({ atMs }) => atMs > nowMs - MINUTE_MS)
    const isFull = this.#rests.reduce((sum, { forMs }) => sum + forMs, 0) >= RESTS_MS
    const answers = isFull ? this.#recent(nowMs) : this.#sinceQuiet(nowMs)
    const withinMs = Math.max(WITHIN_MS_MIN, nowMs - (answers[0] ?? nowMs) + Math.min(KEPT_MS, pauseMs))
    const shown = (freeOf(answers.length) * MINUTE_MS) / withinMs
    const known = this.isKnown(nowMs) ? this.#perMinute : null
    if (isFull) this.#perMinute = shown
    else if (known === null || !this.#isMeasured)
      this.#perMinute = known !== null && this.#hasHeldBack ? Math.max(shown, known) : shown
    this.#isMeasured = isFull || (known !== null && this.#isMeasured)
    this.#ofNewcomers = new TokenBucket(this.#perMinute, nowMs)
    this.#ofRepeats = new TokenBucket(this.#perMinute / REPEATS_PART, nowMs)
    this.#untilMs = nowMs + KEPT_MS
    this.#hasHeldBack = false
  }

  /** Milliseconds until a question of this kind may be asked. An `unproven` one leaves a part to proven newcomers. */
  waitMs(nowMs: number, sharer: Sharer = 'newcomer'): number {
    const bucket = sharer === 'repeat' ? this.#ofRepeats : this.#ofNewcomers
    const waitMs = this.isKnown(nowMs) ? (bucket?.waitMs(1, nowMs, sharer === 'unproven') ?? 0) : 0
    if (waitMs > 0) this.#hasHeldBack = true
    return waitMs
  }

  asks(nowMs: number, sharer: Sharer = 'newcomer'): void {
    this.#ofNewcomers?.take(1, nowMs)
    if (sharer === 'repeat') this.#ofRepeats?.take(1, nowMs)
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
