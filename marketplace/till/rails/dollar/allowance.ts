import { TokenBucket } from '../../../chat/models/token-bucket.ts'
import { freeOf } from '../../../ports/free-places.ts'

/** Answers that are remembered, and for how long. */
const ANSWERS_MAX = 1_000
const MINUTE_MS = 60_000
/** How long an allowance holds after it was seen, and the longest pause that is believed. */
const KEPT_MS = 5 * MINUTE_MS
/** Answers before a pause in our questions of this length are not counted: they do not show the limit. */
const QUIET_MS = 5_000
/** Pauses within a minute that show a facilitator to be asked as much as it answers, taken together. */
const RESTS_MS = 15_000
/** The shortest time that a rate a minute is worked out from. */
const WITHIN_MS_MIN = 1_000

/** Part of what newcomers get that settlements which were tried before may have: it is taken from theirs. */
const REPEATS_PART = 4

/** Questions that leave a part of the allowance to payers: of a newcomer, of a payment without proof of the payer's key, or of a repeated settlement. */
export type Sharer = 'newcomer' | 'unproven' | 'repeat'

interface Rest {
  readonly atMs: number
  readonly forMs: number
}

/**
 * The rate at which a facilitator answers, learned when it asks for a pause: the questions that it answered until then, over the time since
 * the last break. Where it has asked for so long pauses within a minute that it was asked all it answers, all answers of that minute are the
 * rate: a few that come at once between two pauses show nothing. For five minutes after that, payers that have not paid lately get three
 * quarters of that rate together, and the rest is kept for payers that have paid.
 */
export class Allowance {
  #answersMs: readonly number[] = []
  #rests: readonly Rest[] = []
  #ofNewcomers: TokenBucket | null = null
  #ofRepeats: TokenBucket | null = null
  #perMinute = 0
  #untilMs = 0
  /** Whether newcomers had to wait since then: a rate seen meanwhile is only what we asked, not what the facilitator allows. */
  #hasHeldBack = false
  /** Whether the rate is of a minute in which it was asked all it answers: no burst shows more. */
  #isMeasured = false

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

  /** Milliseconds until such a question may be asked; 0 is now. A payment that is not proven leaves a part to proven ones. */
  waitMs(nowMs: number, sharer: Sharer = 'newcomer'): number {
    const bucket = sharer === 'repeat' ? this.#ofRepeats : this.#ofNewcomers
    const waitMs = this.isKnown(nowMs) ? (bucket?.waitMs(1, nowMs, sharer === 'unproven') ?? 0) : 0
    if (waitMs > 0) this.#hasHeldBack = true
    return waitMs
  }

  /** Notes that such a question is asked. */
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
