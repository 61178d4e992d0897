import type { Clock } from '../../../consensus/chain/ports.ts'

/** What a peer may use up: so much at once, refilled at so much a second. */
export interface Allowance {
  readonly burst: number
  readonly perSecond: number
}

const MIB = 1_048_576

/**
 * What one peer may use up. Verification is charged before the work and given back for what turned out good, so that
 * only worthless work counts: a peer that sends good blocks is never short of it.
 */
export const ALLOWANCES = {
  /** Requests that we answer. */
  requests: { burst: 400, perSecond: 100 },
  /** Of these, how many say how it stands: all are answered before others that wait, and honest peers send three a minute. */
  statuses: { burst: 30, perSecond: 0.5 },
  /** Bytes of its requests and gossip. */
  bytesIn: { burst: 16 * MIB, perSecond: 4 * MIB },
  /** Bytes of our replies. */
  bytesOut: { burst: 256 * MIB, perSecond: 128 * MIB },
  /** Milliseconds of a core for checking what it sent. */
  verificationMs: { burst: 4_000, perSecond: 200 },
  /** Transactions that it told of and did not have when it was asked: some are mined or pushed out meanwhile. */
  missingIds: { burst: 1_024, perSecond: 16 },
  /** Transactions that it told of and gave, and that were of no use: its pool may differ from ours, by far when it is met first. */
  uselessTransactions: { burst: 2_048, perSecond: 32 },
} as const satisfies Record<string, Allowance>

/** Name of an allowance. */
export type Resource = keyof typeof ALLOWANCES

interface Bucket {
  left: number
  atMs: number
}

/** One peer's allowances: token buckets. */
export class Budget {
  readonly #clock: Clock
  readonly #buckets = new Map<Resource, Bucket>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes an amount, or nothing and false where so much is not left. */
  take(resource: Resource, amount: number): boolean {
    const bucket = this.#refilled(resource)
    if (bucket.left < amount) return false
    bucket.left -= amount
    return true
  }

  /** Gives back what was taken for something good. */
  giveBack(resource: Resource, amount: number): void {
    const bucket = this.#refilled(resource)
    bucket.left = Math.min(ALLOWANCES[resource].burst, bucket.left + amount)
  }

  #refilled(resource: Resource): Bucket {
    const { burst, perSecond } = ALLOWANCES[resource]
    const now = this.#clock.now()
    const bucket = this.#buckets.get(resource) ?? { left: burst, atMs: now }
    this.#buckets.set(resource, bucket)
    bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.atMs) * perSecond) / 1_000)
    bucket.atMs = now
    return bucket
  }
}
