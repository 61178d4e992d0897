/** Failures in a row after which a partner is not asked for a while. */
const FAILURES_MAX = 3
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 30_000
/** A failure this long after the one before starts a new row, so that a few failures over hours do not close a partner that is seldom asked. */
const FORGOTTEN_MS = 120_000

/** Says whether a partner that failed several times in a row may be asked. After each pause it may be asked once, to see if it is back. */
export class Breaker {
  #failures = 0
  #openUntilMs = 0
  #failedMs = Number.NEGATIVE_INFINITY

  /** Whether the partner must not be asked now. */
  isOpen(nowMs: number): boolean {
    return nowMs < this.#openUntilMs
  }

  /** Notes that the partner answered well. */
  succeeded(): void {
    this.#failures = 0
    this.#openUntilMs = 0
  }

  /** Notes a failure; each pause is twice as long as the one before. */
  failed(nowMs: number): void {
    if (nowMs - this.#failedMs > FORGOTTEN_MS) this.#failures = 0
    this.#failedMs = nowMs
    this.#failures += 1
    const pauses = this.#failures - FAILURES_MAX
    if (pauses >= 0) this.#openUntilMs = nowMs + Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(pauses, 10))
  }
}
