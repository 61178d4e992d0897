import { freeOf } from '../../ports/free-places.ts'

const MINUTE_MS = 60_000
/** A burst is a tenth of a minute's allowance. */
const BURST_PART = 10

/**
 * An allowance per minute that refills evenly. Single units never exceed the allowance within any 60 seconds. A request
 * larger than a burst passes when the bucket is full, and leaves a debt.
 */
export class TokenBucket {
  readonly #capacity: number
  readonly #perMs: number
  #level: number
  #atMs: number

  constructor(perMinute: number, nowMs: number) {
    this.#capacity = Math.max(1, Math.floor(perMinute / BURST_PART))
    // The initial level counts for the first minute too.
    this.#perMs = (perMinute - this.#capacity + 1) / MINUTE_MS
    this.#level = this.#capacity
    this.#atMs = nowMs
  }

  /** Time until `units` can be taken, 0 for now. Free requests leave a part of the bucket to others. */
  waitMs(units: number, nowMs: number, isFree = false): number {
    this.#fill(nowMs)
    const kept = isFree ? this.#capacity - freeOf(this.#capacity) : 0
    const missing = Math.min(units, this.#capacity - kept) + kept - this.#level
    return missing <= 0 ? 0 : Math.ceil(missing / this.#perMs)
  }

  /** Takes units. A negative number returns unused ones. */
  take(units: number, nowMs: number): void {
    this.#fill(nowMs)
    this.#level = Math.min(this.#capacity, this.#level - units)
  }

  #fill(nowMs: number): void {
    const passed = Math.max(0, nowMs - this.#atMs)
    this.#level = Math.min(this.#capacity, this.#level + passed * this.#perMs)
    // If the clock is set back, refill from there. Otherwise nothing would refill until the clock catches up.
    this.#atMs = nowMs
  }
}
