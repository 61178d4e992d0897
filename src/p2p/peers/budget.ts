import type { Clock } from '../../../consensus/chain/ports.ts'
import { type Allowance, Bucket } from '../../../consensus/primitives/bucket.ts'

const MIB = 1_048_576

/** What one peer may use. Verification is charged before the work and given back for good results, so good blocks cost nothing. */
export const ALLOWANCES = {
  requests: { burst: 400, perSecond: 100 },
  /** Of these, status requests. They are answered without waiting for a turn; honest peers send three a minute. */
  statuses: { burst: 30, perSecond: 0.5 },
  /** Bytes of its requests and gossip. */
  bytesIn: { burst: 16 * MIB, perSecond: 4 * MIB },
  bytesOut: { burst: 256 * MIB, perSecond: 128 * MIB },
  /** Milliseconds of one core for checking what it sent. */
  verificationMs: { burst: 4_000, perSecond: 200 },
  /** Transactions that it told of and did not have when asked. Some are mined or pushed out meanwhile. */
  missingIds: { burst: 1_024, perSecond: 16 },
  /** Useless transactions that it told of and gave. Its pool may differ from ours, above all at the first meeting. */
  uselessTransactions: { burst: 2_048, perSecond: 32 },
} as const satisfies Record<string, Allowance>

/** Name of an allowance. */
export type Resource = keyof typeof ALLOWANCES

/** A bucket that reads its clock. */
export class ClockedBucket {
  readonly #bucket: Bucket
  readonly #clock: Clock

  constructor(allowance: Allowance, clock: Clock) {
    this.#bucket = new Bucket(allowance, clock.now())
    this.#clock = clock
  }

  get left(): number {
    return this.#bucket.left(this.#clock.now())
  }

  spend(amount: number): boolean {
    return this.#bucket.spend(amount, this.#clock.now())
  }

  take(amount: number): boolean {
    return this.#bucket.take(amount, this.#clock.now())
  }

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

  /** False, with nothing taken, if less is left. */
  take(resource: Resource, amount: number): boolean {
    return this.#of(resource).take(amount)
  }

  giveBack(resource: Resource, amount: number): void {
    this.#of(resource).giveBack(amount)
  }

  #of(resource: Resource): ClockedBucket {
    const bucket = this.#buckets.get(resource) ?? new ClockedBucket(ALLOWANCES[resource], this.#clock)
    this.#buckets.set(resource, bucket)
    return bucket
  }
}
