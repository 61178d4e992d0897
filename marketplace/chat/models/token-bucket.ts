import { Bucket } from '../../../consensus/primitives/bucket.ts'
import { freeOf } from '../../ports/free-places.ts'

/** Part of a minute's allowance that may be used at once. */
const BURST_PART = 10

/**
 * An allowance per minute that fills evenly. Units taken one at a time never exceed the allowance within any 60 seconds, however
 * they are spread; a request that is larger than a burst is let through when the bucket is full, and paid for afterwards.
 */
export class TokenBucket {
  readonly #capacity: number
  readonly #bucket: Bucket

  constructor(perMinute: number, nowMs: number) {
    this.#capacity = Math.max(1, Math.floor(perMinute / BURST_PART))
    // What is there at the beginning counts for the first minute, too.
    const perSecond = (perMinute - this.#capacity + 1) / 60
    this.#bucket = new Bucket({ burst: this.#capacity, perSecond }, nowMs)
  }

  /** How long to wait until so many units can be taken; 0 is now. `isFree`: a part of what fits in is left for others. */
  waitMs(units: number, nowMs: number, isFree = false): number {
    const kept = isFree ? this.#capacity - freeOf(this.#capacity) : 0
    return this.#bucket.waitMs(Math.min(units, this.#capacity - kept) + kept, nowMs)
  }

  /** Takes units; fewer than none gives back what was taken too much. */
  take(units: number, nowMs: number): void {
    this.#bucket.spend(units, nowMs)
  }
}
