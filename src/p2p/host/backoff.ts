/** Says when to try again. Delays double up to a bound, which the caller may change from one call to the next. */
export class Backoff {
  readonly #firstMs: number
  readonly #random: () => number
  #failures = 0
  #sinceMs = Number.NEGATIVE_INFINITY
  #jitter = 1

  constructor(firstMs: number, random: () => number) {
    this.#firstMs = firstMs
    this.#random = random
  }

  get failures(): number {
    return this.#failures
  }

  failed(nowMs: number): void {
    this.#failures += 1
    this.#sinceMs = nowMs
    // Nodes that lost the same seed at once must not all come back at once.
    this.#jitter = 0.8 + 0.4 * this.#random()
  }

  succeeded(): void {
    this.#failures = 0
    this.#sinceMs = Number.NEGATIVE_INFINITY
  }

  /** Whether it is time to try again, with delays of at most `mostMs`, give or take a fifth. */
  isDue(nowMs: number, mostMs: number): boolean {
    return nowMs >= this.#sinceMs + retryDelay(this.#firstMs, this.#failures, mostMs) * this.#jitter
  }
}

/** Delay after a number of failures in a row. */
export function retryDelay(firstMs: number, failures: number, mostMs: number): number {
  return failures === 0 ? 0 : Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30))
}
