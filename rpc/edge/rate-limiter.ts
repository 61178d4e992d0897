import { type Holder, NETWORK_CLIENTS } from '../../consensus/primitives/fair-share.ts'
import type { RateBucket } from '../contract/route.ts'
import type { RateLimits } from '../server/limits.ts'

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
 * Counts requests by bucket and address over minutes that begin with an address's first request, and likewise by network: of IPv6 a
 * client may have all addresses of one. What it keeps is bounded: a client from more networks than it remembers is no matter of limits
 * by address.
 */
export class RateLimiter {
  readonly #buckets: ReadonlyMap<RateBucket, Bucket>

  constructor(perMinute: RateLimits) {
    const names = Object.keys(perMinute) as RateBucket[]
    this.#buckets = new Map(names.map((name) => [name, bucketOf(name, perMinute[name])]))
  }

  /** Counts a request if it is allowed to its address, and to the network that has many of them. */
  take(bucket: RateBucket, { address, network }: Holder, nowMs: number): RateVerdict {
    const { addresses, networks } = this.#buckets.get(bucket) as Bucket
    if (network === address) return addresses.take(address, nowMs)
    if (networks.isSpent(network, nowMs)) return networks.take(network, nowMs)
    const verdict = addresses.take(address, nowMs)
    if (verdict.allowed) networks.take(network, nowMs)
    return verdict
  }

  /** Addresses and networks that are remembered, in all buckets. */
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
    // A clock that was set back would make a window longer than it is.
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
