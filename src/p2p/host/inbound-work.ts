import type { Clock } from '../../../consensus/chain/ports.ts'
import { eventLoopPacer } from '../../daemon/runtime.ts'
import type { JudgingTime } from '../network.ts'
import { ClockedBucket } from '../peers/budget.ts'

/**
 * Main-thread time that inbound traffic takes and may take. Streams, muxer frames and units of gossip have a fixed cost (`npm run bench --
 * inbound-flood`). The time of judging gossip is measured; if the message is passed on, what was spent since the last pause is not charged.
 * Each connection has its own share. Beyond that it draws on one share for all. While both are used up, the connection is not read: it
 * loses time, and is not blamed. A new connection may take little at once, because peer ids are free.
 */
export const INBOUND_WORK = {
  streamMs: 0.3,
  frameMs: 0.005,
  gossipUnitMs: 0.004,
  /** Shares of the main thread: of a connection that came to us, of one that we chose, and of all connections beyond their own shares. */
  inboundShare: 0.005,
  outboundShare: 0.02,
  allShare: 0.25,
  ownBurstMs: 5,
  allBurstMs: 500,
  /** Longest time that a connection is not read, whatever it owes. A line that is silent for longer looks dead. */
  restMs: 3_000,
} as const

const LOOK_MS = 50

/** A connection whose reading can be paused. */
export interface Readable {
  readonly direction: 'inbound' | 'outbound'
  readonly isOpen: () => boolean
  pause(): void
  resume(): void
}

/** Shares out the main-thread time for what peers send, before it is a request. */
export class InboundWork {
  readonly #clock: Clock
  readonly #all: ClockedBucket

  constructor(clock: Clock) {
    this.#clock = clock
    this.#all = shareOf(INBOUND_WORK.allShare, INBOUND_WORK.allBurstMs, clock)
  }

  of(connection: Readable): WorkAccount {
    const own = shareOf(INBOUND_WORK[`${connection.direction}Share`], INBOUND_WORK.ownBurstMs, this.#clock)
    return new WorkAccount(connection, own, this.#all, this.#clock)
  }
}

/** Bytes that were read together are all worked through, so the connection may come to owe time. */
export class WorkAccount {
  readonly #connection: Readable
  readonly #own: ClockedBucket
  readonly #all: ClockedBucket
  readonly #clock: Clock
  #isResting = false
  #late: ((ms: number) => void) | null = null

  constructor(connection: Readable, own: ClockedBucket, all: ClockedBucket, clock: Clock) {
    this.#connection = connection
    this.#own = own
    this.#all = all
    this.#clock = clock
  }

  get owedMs(): number {
    return Math.max(0, -this.#own.left)
  }

  spend(ms: number): void {
    if (this.#late !== null) {
      this.#late(ms)
      return
    }
    if (this.#own.take(ms) || this.#all.take(ms)) return
    this.#own.spend(ms)
    if (this.#isResting || !this.#connection.isOpen()) return
    this.#isResting = true
    this.#connection.pause()
    this.#look(this.#clock.now() + INBOUND_WORK.restMs)
  }

  judging(): Judging {
    return new Judging(this)
  }

  /** The connection has ended. `charge` gets what it owes, and what is still done for it later. */
  end(charge: (ms: number) => void): void {
    charge(this.owedMs)
    this.#late = charge
  }

  /** Resumes reading once nothing is owed, once the common share can pay for it, or after `restMs`. */
  #look(untilMs: number): void {
    setTimeout(() => {
      if (!this.#connection.isOpen()) return
      const owedMs = this.owedMs
      if (owedMs > 0 && this.#all.take(owedMs)) this.#own.giveBack(owedMs)
      if (this.owedMs > 0 && this.#clock.now() < untilMs) return this.#look(untilMs)
      this.#isResting = false
      this.#connection.resume()
    }, LOOK_MS)
  }
}

/** Time for judging one message. At each pause the work so far is charged, because more may arrive meanwhile. */
export class Judging implements JudgingTime {
  readonly #account: WorkAccount
  readonly #pacer = eventLoopPacer()
  #ms = 0

  constructor(account: WorkAccount) {
    this.#account = account
  }

  readonly measure = <T>(work: () => T): T => {
    const beganMs = performance.now()
    try {
      return work()
    } finally {
      this.#ms += performance.now() - beganMs
    }
  }

  async run<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = this.measure(() => steps.next())
      if (step.done === true) return step.value
      if (!this.#pacer.due()) continue
      this.charge()
      await this.#pacer.pause()
    }
  }

  charge(): void {
    this.#account.spend(this.#ms)
    this.#ms = 0
  }
}

function shareOf(share: number, burst: number, clock: Clock): ClockedBucket {
  return new ClockedBucket({ burst, perSecond: share * 1_000 }, clock)
}
