/** What may be used: so much at once, refilled at so much a second. */
export interface Allowance {
  readonly burst: number
  readonly perSecond: number
}

/** A token bucket: an allowance and what is left of it. What is not used does not add up beyond the burst. */
export class Bucket {
  readonly #allowance: Allowance
  #left: number
  #atMs: number

  constructor(allowance: Allowance, nowMs: number) {
    this.#allowance = allowance
    this.#left = allowance.burst
    this.#atMs = nowMs
  }

  /** What may be used now; below 0 where more was used than there was. */
  left(nowMs: number): number {
    const { burst, perSecond } = this.#allowance
    const passedMs = Math.max(0, nowMs - this.#atMs)
    this.#left = Math.min(burst, this.#left + (passedMs * perSecond) / 1_000)
    // A clock that was set back refills from there at once; waiting until it is where it was would refill nothing meanwhile.
    this.#atMs = nowMs
    return this.#left
  }

  /** How long to wait until so much may be used, in milliseconds; 0 is now. */
  waitMs(amount: number, nowMs: number): number {
    const missing = amount - this.left(nowMs)
    return missing <= 0 ? 0 : Math.ceil((missing * 1_000) / this.#allowance.perSecond)
  }

  /** Takes an amount that was already used; false once more is used than there was. */
  spend(amount: number, nowMs: number): boolean {
    this.#left = this.left(nowMs) - amount
    return this.#left >= 0
  }

  /** Takes an amount, or nothing and false where so much is not left. */
  take(amount: number, nowMs: number): boolean {
    return this.left(nowMs) >= amount && this.spend(amount, nowMs)
  }

  /** Gives back an amount that turned out not to count. */
  giveBack(amount: number, nowMs: number): void {
    this.#left = Math.min(this.#allowance.burst, this.left(nowMs) + amount)
  }
}
