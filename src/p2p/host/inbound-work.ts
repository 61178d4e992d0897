import type { Clock } from '../../../consensus/chain/ports.ts'
import { eventLoopPacer } from '../../daemon/runtime.ts'
import type { JudgingTime } from '../network.ts'
import { ClockedBucket } from '../peers/budget.ts'

/**
 * What streams, frames of the muxer and fields of gossip take of the main thread, whatever they hold: `npm run bench --
 * inbound-flood`. What judging gossip takes is measured, and counts unless it is passed on. Each connection has a share of its own. What it takes beyond comes out of one share for all, and while that is
 * used up it is read no further: it loses time, and is not blamed. A new connection may take little at once, for names are
 * free, and what it owes when it ends is charged to the net that it came from.
 */
export const INBOUND_WORK = {
  streamMs: 0.3,
  frameMs: 0.005,
  gossipUnitMs: 0.004,
  /** Shares of the main thread: of a connection that came to us, of one that we chose, and of all beyond that. */
  inboundShare: 0.005,
  outboundShare: 0.02,
  allShare: 0.25,
  /** What they may take at once. */
  ownBurstMs: 5,
  allBurstMs: 500,
  /** A connection is read again by then, whatever it owes: a line that says nothing for longer looks dead. */
  restMs: 3_000,
} as const

/** While a connection rests, it is looked at so often. */
const LOOK_MS = 50

/** A connection as far as it can be read no further for a while. */
export interface Readable {
  readonly direction: 'inbound' | 'outbound'
  readonly isOpen: () => boolean
  pause(): void
  resume(): void
}

/** Shares out the time of the main thread that goes into what peers send, before it is a request. */
export class InboundWork {
  readonly #clock: Clock
  readonly #all: ClockedBucket

  constructor(clock: Clock) {
    this.#clock = clock
    this.#all = shareOf(INBOUND_WORK.allShare, INBOUND_WORK.allBurstMs, clock)
  }

  /** An account for a connection. */
  of(connection: Readable): WorkAccount {
    const own = shareOf(INBOUND_WORK[`${connection.direction}Share`], INBOUND_WORK.ownBurstMs, this.#clock)
    return new WorkAccount(connection, own, this.#all, this.#clock)
  }
}

/** What one connection takes, and owes. What was read together is worked through, so it may come to owe some. */
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

  /** What it owes, milliseconds. */
  get owedMs(): number {
    return Math.max(0, -this.#own.left)
  }

  /** Takes what was just worked on, milliseconds. */
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

  /** Measures what judging a message takes. */
  judging(): Judging {
    return new Judging(this)
  }

  /** Its connection has ended: `charge` takes what it owes, and what is still done for it. */
  end(charge: (ms: number) => void): void {
    charge(this.owedMs)
    this.#late = charge
  }

  /** Has it read again once it owes nothing, or what it owes can be paid out of the share of all. */
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

/** What judging one message takes. Pauses are no work, and what was done before is paid then: more may come meanwhile. */
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

  /** Charges what was not charged yet. */
  charge(): void {
    this.#account.spend(this.#ms)
    this.#ms = 0
  }
}

function shareOf(share: number, burst: number, clock: Clock): ClockedBucket {
  return new ClockedBucket({ burst, perSecond: share * 1_000 }, clock)
}
