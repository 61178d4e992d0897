import type { Clock } from '../../../consensus/chain/ports.ts'
import { type Allowance, Bucket } from '../../../consensus/primitives/bucket.ts'

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

/** An allowance that is used by the time of a clock. */
export class ClockedBucket {
  readonly #bucket: Bucket
  readonly #clock: Clock

  constructor(allowance: Allowance, clock: Clock) {
    this.#bucket = new Bucket(allowance, clock.now())
    this.#clock = clock
  }

  /** {@link Bucket.left} */
  get left(): number {
    return this.#bucket.left(this.#clock.now())
  }

  /** {@link Bucket.spend} */
  spend(amount: number): boolean {
    return this.#bucket.spend(amount, this.#clock.now())
  }

  /** {@link Bucket.take} */
  take(amount: number): boolean {
    return this.#bucket.take(amount, this.#clock.now())
  }

  /** {@link Bucket.giveBack} */
  giveBack(amount: number): void {
    this.#bucket.giveBack(amount, this.#clock.now())
  }
}

/** One peer's allowances. */
export class Budget {
  readonly #clock: Clock
  readonly #buckets = new Map<Resource, ClockedBucket>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes an amount, or nothing and false where so much is not left. */
  take(resource: Resource, amount: number): boolean {
    return this.#of(resource).take(amount)
  }

  /** Gives back what was taken for something good. */
  giveBack(resource: Resource, amount: number): void {
    this.#of(resource).giveBack(amount)
  }

  #of(resource: Resource): ClockedBucket {
    const bucket = this.#buckets.get(resource) ?? new ClockedBucket(ALLOWANCES[resource], this.#clock)
    this.#buckets.set(resource, bucket)
    return bucket
  }
}
