import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Allowance } from '../peers/budget.ts'

/** So much at once, refilled at so much a second. What was not used up does not add up beyond the burst. */
export class Bucket {
  readonly #allowance: Allowance
  readonly #clock: Clock
  #left: number
  #atMs: number

  constructor(allowance: Allowance, clock: Clock) {
    this.#allowance = allowance
    this.#clock = clock
    this.#left = allowance.burst
    this.#atMs = clock.now()
  }

  /** What may be used now; below 0 where more was used than there was. */
  get left(): number {
    const now = this.#clock.now()
    const refilled = this.#left + (Math.max(0, now - this.#atMs) * this.#allowance.perSecond) / 1_000
    this.#left = Math.min(this.#allowance.burst, refilled)
    this.#atMs = now
    return this.#left
  }

  /** Takes an amount that was already used; false once more is used than there was. */
  spend(amount: number): boolean {
    this.#left = this.left - amount
    return this.#left >= 0
  }

  /** Takes an amount, or nothing and false where so much is not left. */
  take(amount: number): boolean {
    return this.left >= amount && this.spend(amount)
  }

  /** Gives back what turned out to be wanted. */
  giveBack(amount: number): void {
    this.#left = Math.min(this.#allowance.burst, this.#left + amount)
  }
}
