import { Bucket } from '../../../consensus/primitives/bucket.ts'
import { freeOf } from '../../ports/free-places.ts'

/** A burst is a tenth of a minute's allowance. */
const BURST_PART = 10

/**
 * An allowance per minute that refills evenly. Single units never exceed it within any 60 seconds. A request larger
 * than a burst passes when the bucket is full, and leaves a debt.
 */
export class TokenBucket {
  readonly #capacity: number
  readonly #bucket: Bucket

  constructor(perMinute: number, nowMs: number) {
    this.#capacity = Math.max(1, Math.floor(perMinute / BURST_PART))
    // The initial level counts for the first minute too.
    const perSecond = (perMinute - this.#capacity + 1) / 60
    this.#bucket = new Bucket({ burst: this.#capacity, perSecond }, nowMs)
  }

  /** 0 if `units` can be taken now. Free requests leave a part of the bucket to paid ones. */
  waitMs(units: number, nowMs: number, isFree = false): number {
    const kept = isFree ? this.#capacity - freeOf(this.#capacity) : 0
    return this.#bucket.waitMs(Math.min(units, this.#capacity - kept) + kept, nowMs)
  }

  /** A negative number returns unused units. */
  take(units: number, nowMs: number): void {
    this.#bucket.spend(units, nowMs)
  }
}
