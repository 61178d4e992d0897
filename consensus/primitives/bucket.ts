/** A rate limit: at most `burst` at once, refilled by `perSecond`. */
export interface Allowance {
  readonly burst: number
  readonly perSecond: number
}

/** A token bucket. It never holds more than the burst. */
export class Bucket {
  readonly #allowance: Allowance
  #left: number
  #atMs: number

  constructor(allowance: Allowance, nowMs: number) {
    this.#allowance = allowance
    this.#left = allowance.burst
    this.#atMs = nowMs
  }

  /** What may be used now; negative after an overdraft. */
  left(nowMs: number): number {
    const { burst, perSecond } = this.#allowance
    const passedMs = Math.max(0, nowMs - this.#atMs)
    this.#left = Math.min(burst, this.#left + (passedMs * perSecond) / 1_000)
    // When the clock is set back, the bucket refills from the new time; waiting for the old time would stop the refill.
    this.#atMs = nowMs
    return this.#left
  }

  /** Milliseconds until `amount`, at most the burst, may be used; 0 is now. */
  waitMs(amount: number, nowMs: number): number {
    const missing = amount - this.left(nowMs)
    return missing <= 0 ? 0 : Math.ceil((missing * 1_000) / this.#allowance.perSecond)
  }

  /** Takes an amount that was already used, even if it is more than what is left; false after an overdraft. */
  spend(amount: number, nowMs: number): boolean {
    this.#left = this.left(nowMs) - amount
    return this.#left >= 0
  }

  /** Takes an amount if there is enough; otherwise takes nothing and gives false. */
  take(amount: number, nowMs: number): boolean {
    return this.left(nowMs) >= amount && this.spend(amount, nowMs)
  }

  /** Gives back an amount that was taken and then not used. */
  giveBack(amount: number, nowMs: number): void {
    this.#left = Math.min(this.#allowance.burst, this.left(nowMs) + amount)
  }
}
