/** Failures in a row after which somebody is left alone for a while. */
const FAILURES_MAX = 3
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 30_000
/** Failures that lie farther apart tell nothing together: a partner that is asked rarely is not closed by a few that were caused. */
const FORGOTTEN_MS = 120_000

/** Leaves a partner alone that fails again and again, and lets one request through now and then to see if it is back. */
export class Breaker {
  #failures = 0
  #openUntilMs = 0
  #failedMs = Number.NEGATIVE_INFINITY

  /** Whether it is left alone. */
  isOpen(nowMs: number): boolean {
    return nowMs < this.#openUntilMs
  }

  /** Everything is well again. */
  succeeded(): void {
    this.#failures = 0
    this.#openUntilMs = 0
  }

  /** It failed once more; each pause is twice as long as the one before. */
  failed(nowMs: number): void {
    if (nowMs - this.#failedMs > FORGOTTEN_MS) this.#failures = 0
    this.#failedMs = nowMs
    this.#failures += 1
    const pauses = this.#failures - FAILURES_MAX
    if (pauses >= 0) this.#openUntilMs = nowMs + Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(pauses, 10))
  }
}
