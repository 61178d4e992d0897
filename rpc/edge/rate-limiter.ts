import { type Holder, NETWORK_CLIENTS } from '../../consensus/primitives/fair-share.ts'
import type { RateBucket } from '../contract/route.ts'
import type { RateLimits } from '../server/limits.ts'

/** Most keys that a counter remembers. One more makes it forget the key whose minute began before all others. */
export const KEYS_MAX = 50_000
const WINDOW_MS = 60_000
/** Most keys forgotten for each new one. More than one, so that keys whose minute is over do not pile up. */
const FORGOTTEN_AT_ONCE = 4
const WINDOW_SECONDS = WINDOW_MS / 1_000

/** Whether a request is within its limit, with the headers of draft-ietf-httpapi-ratelimit-headers-10. */
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
 * Counts requests by bucket and address, over minutes that each begin with a request. Networks are counted in the same way,
 * because one client may have all addresses of a network. Memory is bounded: these limits cannot stop an attacker with
 * more networks than a counter remembers.
 */
export class RateLimiter {
  readonly #buckets: ReadonlyMap<RateBucket, Bucket>

  constructor(perMinute: RateLimits) {
    const names = Object.keys(perMinute) as RateBucket[]
    this.#buckets = new Map(names.map((name) => [name, bucketOf(name, perMinute[name])]))
  }

  /** Counts a request if both its address and its network may send one more. */
  take(bucket: RateBucket, { address, network }: Holder, nowMs: number): RateVerdict {
    const { addresses, networks } = this.#buckets.get(bucket) as Bucket
    if (network === address) return addresses.take(address, nowMs)
    if (networks.isSpent(network, nowMs)) return networks.take(network, nowMs)
    const verdict = addresses.take(address, nowMs)
    if (verdict.allowed) networks.take(network, nowMs)
    return verdict
  }

  get size(): number {
    return [...this.#buckets.values()].reduce((sum, { addresses, networks }) => sum + addresses.size + networks.size, 0)
  }
}

interface Bucket {
  readonly addresses: RateCounter
  readonly networks: RateCounter
}

function bucketOf(name: RateBucket, max: number): Bucket {
  return { addresses: new RateCounter(name, max), networks: new RateCounter(name, NETWORK_CLIENTS * max) }
}

/** Counts the requests of one bucket. */
export class RateCounter {
  readonly #max: number
  readonly #name: string
  readonly #policy: string
  /** Ordered by when their minutes began. */
  readonly #windows = new Map<string, Window>()

  constructor(name: RateBucket, max: number) {
    this.#max = max
    this.#name = name
    this.#policy = `"${name}";q=${max};w=${WINDOW_SECONDS}`
  }

  get size(): number {
    return this.#windows.size
  }

  /** Whether a request would be refused. Does not count it. */
  isSpent(key: string, nowMs: number): boolean {
    const window = this.#windows.get(key)
    return window !== undefined && window.endsMs > nowMs && window.count >= this.#max
  }

  take(key: string, nowMs: number): RateVerdict {
    const window = this.#windowOf(key, nowMs)
    const allowed = window.count < this.#max
    if (allowed) window.count += 1
    // If `nowMs` lies before the window began, the rest of the window would look longer than a minute.
    const seconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000)))
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

  /** Forgets the oldest keys: a few whose minute is over, or one whose minute runs if there is no room. */
  #forget(nowMs: number): void {
    let looked = 0
    for (const [key, { endsMs }] of this.#windows) {
      if (looked++ >= FORGOTTEN_AT_ONCE) return
      if (endsMs > nowMs && this.#windows.size < KEYS_MAX) return
      this.#windows.delete(key)
    }
  }
}
