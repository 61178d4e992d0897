import { freeOf } from '../../ports/free-places.ts'

const MINUTE_MS = 60_000
/** Part of a minute's allowance that may be used at once. */
const BURST_PART = 10

/**
 * An allowance per minute that fills evenly. Units taken one at a time never exceed the allowance within any 60 seconds, however
 * they are spread; a request that is larger than a burst is let through when the bucket is full, and paid for afterwards.
 */
export class TokenBucket {
  readonly #capacity: number
  readonly #perMs: number
  #level: number
  #atMs: number

  constructor(perMinute: number, nowMs: number) {
    this.#capacity = Math.max(1, Math.floor(perMinute / BURST_PART))
    // What is there at the beginning counts for the first minute, too.
    this.#perMs = (perMinute - this.#capacity + 1) / MINUTE_MS
    this.#level = this.#capacity
    this.#atMs = nowMs
  }

  /** How long to wait until so many units can be taken; 0 is now. `isFree`: a part of what fits in is left for others. */
  waitMs(units: number, nowMs: number, isFree = false): number {
    this.#fill(nowMs)
    const kept = isFree ? this.#capacity - freeOf(this.#capacity) : 0
    const missing = Math.min(units, this.#capacity - kept) + kept - this.#level
    return missing <= 0 ? 0 : Math.ceil(missing / this.#perMs)
  }

  /** Takes units; fewer than none gives back what was taken too much. */
  take(units: number, nowMs: number): void {
    this.#fill(nowMs)
    this.#level = Math.min(this.#capacity, this.#level - units)
  }

  #fill(nowMs: number): void {
    const passed = Math.max(0, nowMs - this.#atMs)
    this.#level = Math.min(this.#capacity, this.#level + passed * this.#perMs)
    // Where the clock was set back it fills from there: else nothing would fill it until the clock is where it was.
    this.#atMs = nowMs
  }
}
