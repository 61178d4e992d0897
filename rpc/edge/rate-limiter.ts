import type { RateBucket } from '../contract/route.ts'
import type { RateLimits } from '../limits.ts'

/** Keys that a bucket remembers; beyond, the one whose minute began first is forgotten. */
export const KEYS_MAX = 50_000
const WINDOW_MS = 60_000
/** More than one for each that is remembered anew, so that what is over does not stay. */
const FORGOTTEN_AT_ONCE = 4
const WINDOW_SECONDS = WINDOW_MS / 1_000

/** How a request stands with its bucket, with the headers of draft-ietf-httpapi-ratelimit-headers-10. */
export interface RateVerdict {
  readonly allowed: boolean
  /** Whole seconds until the minute is over, at least 1. */
  readonly seconds: number
  /** Value of `RateLimit-Policy`. */
  readonly policy: string
  /** Value of `RateLimit`. */
  readonly limit: string
}

interface Window {
  count: number
  readonly endsMs: number
}

/**
 * Counts requests by bucket and key over minutes that begin with a key's first request. What it keeps is bounded: who comes
 * from more addresses than it remembers is no matter of limits by address.
 */
export class RateLimiter {
  readonly #buckets: ReadonlyMap<RateBucket, RateCounter>

  constructor(perMinute: RateLimits) {
    const names = Object.keys(perMinute) as RateBucket[]
    this.#buckets = new Map(names.map((name) => [name, new RateCounter(name, perMinute[name])]))
  }

  /** Counts a request if it is allowed. */
  take(bucket: RateBucket, key: string, nowMs: number): RateVerdict {
    return this.#of(bucket).take(key, nowMs)
  }

  /** Whether a request would be refused now; nothing is counted. */
  isSpent(bucket: RateBucket, key: string, nowMs: number): boolean {
    return this.#of(bucket).isSpent(key, nowMs)
  }

  /** Keys that are remembered, in all buckets. */
  get size(): number {
    return [...this.#buckets.values()].reduce((sum, { size }) => sum + size, 0)
  }

  #of(bucket: RateBucket): RateCounter {
    return this.#buckets.get(bucket) as RateCounter
  }
}

/** Counts the requests of one bucket. */
export class RateCounter {
  readonly #max: number
  readonly #name: string
  readonly #policy: string
  /** In the order in which their minutes began. */
  readonly #windows = new Map<string, Window>()

  constructor(name: RateBucket, max: number) {
    this.#max = max
    this.#name = name
    this.#policy = `"${name}";q=${max};w=${WINDOW_SECONDS}`
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#windows.size
  }

  /** Whether a request would be refused now; nothing is counted. */
  isSpent(key: string, nowMs: number): boolean {
    const window = this.#windows.get(key)
    return window !== undefined && window.endsMs > nowMs && window.count >= this.#max
  }

  /** Counts a request if it is allowed. */
  take(key: string, nowMs: number): RateVerdict {
    const window = this.#windowOf(key, nowMs)
    const allowed = window.count < this.#max
    if (allowed) window.count += 1
    const seconds = Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000))
    const limit = `"${this.#name}";r=${this.#max - window.count};t=${seconds}`
    return { allowed, seconds, policy: this.#policy, limit }
  }

  #windowOf(key: string, nowMs: number): Window {
    const known = this.#windows.get(key)
    if (known !== undefined && known.endsMs > nowMs) return known
    this.#windows.delete(key)
    this.#forget(nowMs)
    const window = { count: 0, endsMs: nowMs + WINDOW_MS }
    this.#windows.set(key, window)
    return window
  }

  /** The oldest come first: those that are over go, a few each time, and one more where there is no room. */
  #forget(nowMs: number): void {
    let looked = 0
    for (const [key, { endsMs }] of this.#windows) {
      if (looked++ >= FORGOTTEN_AT_ONCE) return
      if (endsMs > nowMs && this.#windows.size < KEYS_MAX) return
      this.#windows.delete(key)
    }
  }
}
