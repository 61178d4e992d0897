/** A rate limit: at most `burst` at once, refilled by `perSecond`. */
export interface Allowance {
  readonly burst: number
  readonly perSecond: number
}

/** A token bucket. */
export class Bucket {
  readonly #allowance: Allowance
  #left: number
  #atMs: number

  constructor(allowance: Allowance, nowMs: number) {
    this.#allowance = allowance
    this.#left = allowance.burst
    this.#atMs = nowMs
  }

  /** Negative after an overdraft. */
  left(nowMs: number): number {
    const { burst, perSecond } = this.#allowance
    const passedMs = Math.max(0, nowMs - this.#atMs)
    this.#left = Math.min(burst, this.#left + (passedMs * perSecond) / 1_000)
    // After the clock is set back, waiting for the old time would stop the refill.
    this.#atMs = nowMs
    return this.#left
  }

  /** Milliseconds until `amount`, at most the burst, may be used. */
  waitMs(amount: number, nowMs: number): number {
    const missing = amount - this.left(nowMs)
    return missing <= 0 ? 0 : Math.ceil((missing * 1_000) / this.#allowance.perSecond)
  }

  /** Takes an amount that was already used, even more than is left; false after an overdraft. */
  spend(amount: number, nowMs: number): boolean {
    this.#left = this.left(nowMs) - amount
    return this.#left >= 0
  }

  take(amount: number, nowMs: number): boolean {
    return this.left(nowMs) >= amount && this.spend(amount, nowMs)
  }

  giveBack(amount: number, nowMs: number): void {
    this.#left = Math.min(this.#allowance.burst, this.left(nowMs) + amount)
  }
}
