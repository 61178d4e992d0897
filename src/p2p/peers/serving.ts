import type { Clock, Pacer, Timers } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import type { ProtocolName } from '../wire/protocols.ts'

/** Work that a peer causes: an answer, a check of claimed headers without shown work, or a look at transactions that it told of. */
export type Work = ProtocolName | 'claimedHeaders' | 'toldTransactions'

/**
 * How much of the main thread answering may take: for one peer, and for all peers together. A request for which no time is left waits, and
 * after a while it is refused as `busy`. Checks of headers and of told transactions have shares of their own, so that they and the answers
 * do not starve each other.
 */
export const SERVING = {
  /** Share of the main thread for one peer, and the time over which it is averaged. */
  peerShare: 0.25,
  peerWindowMs: 4_000,
  /** Shares of the main thread: answers to all peers, their headers, transactions that they told of; and the burst of each. */
  allShare: 0.5,
  checksShare: 0.25,
  toldShare: 0.2,
  allBurstMs: 250,
  /** How long a request waits for its turn. The deadline of every protocol is longer. */
  waitMs: 1_000,
  /** Milliseconds of transport work for a request, and for each MiB of a reply. They are not measured one by one. */
  requestMs: 0.8,
  mibMs: 5,
} as const

const MIB = 1_048_576
const LOOK_MS = 20
/** The highest cost of a protocol fades by this factor with each request. */
const FADING = 0.98
/** Assumed milliseconds of a request while none of its protocol was measured: about those of the dearest protocol. */
const FIRST_MS = 10
/** Peers whose use is remembered, even after they left. Leaving must not clear it. */
const PEERS_KEPT = 4_096

/** What serving works with. */
export interface ServingDependencies {
  readonly clock: Clock
  readonly timers: Timers
  /** A monotonic clock finer than milliseconds; null if answering takes no time, as on virtual time. */
  readonly stopwatch: (() => number) | null
  readonly pacer: () => Pacer
}

interface Use {
  readonly ms: number
  readonly atMs: number
}

/** Main-thread time that is shared out: a share of every second, and at most the burst at once. */
interface Pot {
  readonly share: number
  leftMs: number
  atMs: number
}

interface Waiter {
  readonly peer: PeerId
  readonly pot: Pot
  readonly admit: (admitted: boolean) => void
}

/** The work on one request, measured without pauses and without waits for other things. */
export class Turn implements Pacer {
  readonly #pacer: Pacer
  readonly #stopwatch: (() => number) | null
  chargedMs = 0
  #spentMs = 0
  #sinceMs: number | null = null

  constructor({ pacer, stopwatch }: Pick<ServingDependencies, 'pacer' | 'stopwatch'>) {
    this.#pacer = pacer()
    this.#stopwatch = stopwatch
    this.start()
  }

  start(): void {
    this.#sinceMs = this.#stopwatch?.() ?? null
  }

  /** Gives the main-thread milliseconds so far. */
  stop(): number {
    if (this.#sinceMs !== null) this.#spentMs += (this.#stopwatch?.() ?? 0) - this.#sinceMs
    this.#sinceMs = null
    return this.#spentMs
  }

  due(): boolean {
    return this.#pacer.due()
  }

  pause(): Promise<void> {
    return this.aside(this.#pacer.pause())
  }

  /** Waits for something that takes no main-thread time for this request. */
  async aside<T>(work: Promise<T>): Promise<T> {
    this.stop()
    try {
      return await work
    } finally {
      this.start()
    }
  }

  /** Measures a piece of work up to its first wait, while the rest of the turn is not measured. */
  measure<T>(work: () => T): T {
    this.start()
    try {
      return work()
    } finally {
      this.stop()
    }
  }

  /** Adds main-thread work that cannot be measured here. */
  add(ms: number): void {
    if (this.#stopwatch !== null) this.#spentMs += ms
  }
}

/** Shares the main thread's time for answers among peers. */
export class Serving {
  readonly #deps: ServingDependencies
  readonly #uses = new LruMap<PeerId, Use>(PEERS_KEPT)
  readonly #dearest = new Map<Work, number>()
  readonly #waiting = new Set<Waiter>()
  readonly #answers: Pot
  readonly #checks: Pot
  readonly #told: Pot
  #looking = false
  #stopped = false

  constructor(dependencies: ServingDependencies) {
    this.#deps = dependencies
    const atMs = dependencies.clock.now()
    this.#answers = { share: SERVING.allShare, leftMs: SERVING.allBurstMs, atMs }
    this.#checks = { share: SERVING.checksShare, leftMs: SERVING.allBurstMs, atMs }
    this.#told = { share: SERVING.toldShare, leftMs: SERVING.allBurstMs, atMs }
  }

  begin(): Turn {
    return new Turn(this.#deps)
  }

  /**
   * Waits until there is time, and charges the highest cost of the protocol. False if the wait is too long or serving stops. With `must` it
   * never waits.
   */
  async enter(peer: PeerId, protocol: Work, turn: Turn, must: boolean): Promise<boolean> {
    const pot = this.#potOf(protocol)
    const charge = (): void => {
      turn.chargedMs = this.#expected(protocol)
      this.#charge(peer, pot, turn.chargedMs)
    }
    const isNext = ![...this.#waiting].some((other) => other.pot === pot)
    if (must || (isNext && !this.#stopped && this.#isFree(peer, pot))) {
      charge()
      return true
    }
    if (this.#stopped) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cancel = this.#deps.timers.after(SERVING.waitMs, () => waiter.admit(false))
    const waiter: Waiter = {
      peer,
      pot,
      admit: (admitted) => {
        cancel()
        this.#waiting.delete(waiter)
        if (admitted) charge()
        resolve(admitted)
      },
    }
    this.#waiting.add(waiter)
    this.#look()
    return await promise
  }

  /**
   * Does work that a peer causes beside requests. It waits as long as it takes; null if serving stops before. `bytes` is the size of what
   * the work is for. Rejects if the work rejects.
   */
  async work<T>(peer: PeerId, kind: Work, bytes: number, work: (turn: Turn) => Promise<T>): Promise<T | null> {
    const turn = this.begin()
    turn.stop()
    while (!(await this.enter(peer, kind, turn, false))) if (this.#stopped) return null
    turn.start()
    try {
      return await work(turn)
    } finally {
      this.settle(peer, kind, turn, bytes)
    }
  }

  /** Replaces the charge for an admitted request by its real cost. */
  settle(peer: PeerId, protocol: Work, turn: Turn, replyBytes: number): void {
    turn.add(SERVING.requestMs + (replyBytes / MIB) * SERVING.mibMs)
    const ms = turn.stop()
    this.#dearest.set(protocol, Math.max(ms, this.#expected(protocol) * FADING))
    this.#charge(peer, this.#potOf(protocol), ms - turn.chargedMs)
  }

  /** After it only requests with `must` are admitted. */
  stop(): void {
    this.#stopped = true
    for (const waiter of this.#waiting) waiter.admit(false)
  }

  /** Charges a refused request to the peer, but not to the common share: no other peer must go short because one asks too much. */
  refused(peer: PeerId, turn: Turn): void {
    turn.add(SERVING.requestMs)
    this.#note(peer, turn.stop())
  }

  #usedBy(peer: PeerId): number {
    const use = this.#uses.get(peer)
    if (use === undefined) return 0
    return use.ms * Math.exp(-Math.max(0, this.#deps.clock.now() - use.atMs) / SERVING.peerWindowMs)
  }

  #expected(protocol: Work): number {
    return this.#deps.stopwatch === null ? 0 : (this.#dearest.get(protocol) ?? FIRST_MS)
  }

  #isFree(peer: PeerId, pot: Pot): boolean {
    return this.#leftOf(pot) > 0 && this.#usedBy(peer) < SERVING.peerShare * SERVING.peerWindowMs
  }

  #potOf(work: Work): Pot {
    if (work === 'claimedHeaders') return this.#checks
    return work === 'toldTransactions' ? this.#told : this.#answers
  }

  #leftOf(pot: Pot): number {
    const now = this.#deps.clock.now()
    pot.leftMs = Math.min(SERVING.allBurstMs, pot.leftMs + Math.max(0, now - pot.atMs) * pot.share)
    pot.atMs = now
    return pot.leftMs
  }

  #charge(peer: PeerId, pot: Pot, ms: number): void {
    pot.leftMs = this.#leftOf(pot) - ms
    this.#note(peer, ms)
  }

  #note(peer: PeerId, ms: number): void {
    this.#uses.set(peer, { ms: Math.max(0, this.#usedBy(peer) + ms), atMs: this.#deps.clock.now() })
  }

  #look(): void {
    const uses = new Map([...this.#waiting].map(({ peer }) => [peer, this.#usedBy(peer)]))
    const useOf = ({ peer }: Waiter): number => uses.get(peer) as number
    for (const waiter of [...this.#waiting].sort((a, b) => useOf(a) - useOf(b))) {
      if (this.#isFree(waiter.peer, waiter.pot)) waiter.admit(true)
    }
    if (this.#looking || this.#waiting.size === 0) return
    this.#looking = true
    this.#deps.timers.after(LOOK_MS, () => {
      this.#looking = false
      this.#look()
    })
  }
}
