import { performance } from 'node:perf_hooks'
import type { RateBucket } from '../contract/route.ts'

/**
 * Kinds of work in the order in which a node without room gives them up. For lack of time the last three are never given up:
 * payments that are known, health checks, and what the operator asks for.
 */
export const WORK_KINDS = ['list', 'read', 'quote', 'transaction', 'kept', 'health', 'operator'] as const
/** One of {@link WORK_KINDS}. */
export type WorkKind = (typeof WORK_KINDS)[number]

/**
 * The kind of a request by its bucket: what is cheap to ask again goes first. A payment that the node knows already is kept, one
 * that it only hears of goes with the transactions: it is made up, or nothing of it is used yet.
 */
export const WORK_OF: Readonly<Record<RateBucket, WorkKind>> = {
  list: 'list',
  simulate: 'list',
  read: 'read',
  events: 'read',
  mcp: 'quote',
  quote: 'quote',
  chat: 'quote',
  'sign-in': 'quote',
  mining: 'transaction',
  transaction: 'transaction',
  settle: 'transaction',
  health: 'health',
}

/** When an overload begins and ends. */
export interface OverloadLimits {
  /** Delay of the event loop from which on more and more is refused; below it less and less is. */
  readonly delayMsMax: number
}

const NEVER = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as const
/** Pressure at which the first of a kind is refused, and at which all are. What is kept knows no pressure. */
const SHED_BETWEEN: Readonly<Record<WorkKind, readonly [number, number]>> = {
  list: [0.1, 0.35],
  read: [0.2, 0.6],
  quote: [0.3, 0.8],
  transaction: [0.6, 1],
  kept: NEVER,
  health: NEVER,
  operator: NEVER,
}
/**
 * Whoever takes little of the time is still refused as at this share of the pressure: then most lists, which are dearest, are given up,
 * and no quotes. An attacker who makes other networks seem to take more gains no more than that.
 */
const WEIGHT_MIN = 0.3
/** Requests of one turn of the loop that make a queue. Fewer are not why it is late: the machine is busy with something else. */
const QUEUE_MIN = 16
/** Share of the limit under which pressure falls at its full pace. In between it falls the slower, the nearer the limit is. */
const LOW_SHARE = 1 / 3
/** Time over which turns of the loop are put together to a sample. */
const SAMPLE_MS = 100
/** How often the loop is looked at; a turn that takes longer is one look late. */
const LOOK_MS = 20
/** Pressure added by a sample as bad as the limit; a worse one adds more, up to three times. */
const RISE = 0.04
const RISE_FACTOR_MAX = 3
/** A turn that is late by the limit and so many times the limit is full pressure. */
const LATE_TURNS = 3
/** Slower than the rise: a node that opens again at once is overloaded again at once. */
const FALL = 0.02
/**
 * Share of the time in which the loop had something to do from which on it is behind. One that rests in between has done all that
 * there was: if it is late, others have the processor, and fewer requests would not make it sooner.
 */
const BUSY_SHARE = 0.9
/** Time over which the share is smoothed, and the most that one sample counts for: one long turn does not make a busy loop. */
const BUSY_MS = 500
const BUSY_WEIGHT_MAX = 0.5
const RETRY_SECONDS_MAX = 5

/** Time that this thread has had the processor. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/**
 * Refuses work while the node has more of it than it can do in time. The measure is how late the event loop is, since all
 * requests wait for it; pressure rises while it is late with a queue before it, falls slowly once it is not, and says how much of which work is
 * refused. So latency stays near the limit, however much is offered.
 */
export class Overload {
  readonly #limits: OverloadLimits
  readonly #timer: NodeJS.Timeout
  readonly #owed = new Map<WorkKind, number>()
  #pressure = 0
  #arrived = 0
  #looks = 0
  #sampledMs = performance.now()
  #lookedMs = this.#sampledMs
  #busyShare = 0
  #seen = performance.eventLoopUtilization()
  readonly #workedMs: () => number
  #lookedWorkMs: number

  /** `workedMs` tells how long this thread has had the processor, in milliseconds from any beginning. */
  constructor(limits: OverloadLimits, workedMs: () => number = processorMs) {
    this.#limits = limits
    this.#workedMs = workedMs
    this.#lookedWorkMs = workedMs()
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_MS).unref()
  }

  /** 0: everything is let in; 1: only what is kept. */
  get pressure(): number {
    return this.#pressure
  }

  /** Takes note of a request, whatever becomes of it. */
  arrived(): void {
    this.#arrived += 1
  }

  /** Whether there is time for one more request of a kind; `weight`, 0 to 1, is how much who sends it is why there is too little. */
  admits(kind: WorkKind, nowMs: number, weight = 1): boolean {
    const [first, all] = SHED_BETWEEN[kind]
    const pressure = Math.max(weight, WEIGHT_MIN) * Math.max(this.#pressure, this.#lateness(nowMs))
    if (pressure <= first) return true
    // Refusals are spread evenly: of three in ten every third or fourth is refused, by no chance.
    const owed = (this.#owed.get(kind) ?? 0) + Math.min(1, (pressure - first) / (all - first))
    this.#owed.set(kind, owed >= 1 ? owed - 1 : owed)
    return owed < 1
  }

  /** Seconds after which trying again makes sense. */
  get retrySeconds(): number {
    return Math.max(1, Math.ceil(this.#pressure * RETRY_SECONDS_MAX))
  }

  /**
   * Takes one measurement of the event loop: how late it is, how many requests came in each of its turns, over how many samples'
   * time that was so, and what share of its time it was busy.
   */
  observe(delayMs: number, perTurn: number, samples = 1, busyShare = 1): void {
    const { delayMsMax } = this.#limits
    const isQueue = perTurn >= QUEUE_MIN && busyShare >= BUSY_SHARE
    if (!isQueue) this.#move(-FALL)
    else if (delayMs > delayMsMax) this.#move(samples * RISE * Math.min(RISE_FACTOR_MAX, delayMs / delayMsMax))
    else this.#move(-FALL * Math.min(1, (1 - delayMs / delayMsMax) / (1 - LOW_SHARE)))
  }

  /** Measures no more. */
  close(): void {
    clearInterval(this.#timer)
  }

  /** Node's own histogram of delays is empty when it is asked in its first turn after a reset, which a slow turn always is. */
  #look(nowMs: number): void {
    this.#looks += 1
    this.#lookedMs = nowMs
    this.#lookedWorkMs = this.#workedMs()
    const tookMs = nowMs - this.#sampledMs
    if (tookMs < SAMPLE_MS) return
    const weight = Math.min(BUSY_WEIGHT_MAX, tookMs / BUSY_MS)
    this.#busyShare += weight * (this.#utilization() - this.#busyShare)
    const delayMs = Math.max(0, tookMs / this.#looks - LOOK_MS)
    this.observe(delayMs, this.#arrived / this.#looks, tookMs / SAMPLE_MS, this.#busyShare)
    this.#looks = 0
    this.#arrived = 0
    this.#sampledMs = nowMs
  }

  /** Pressure of the turn that goes on: all who wait in it were there before anybody could be refused for it. */
  #lateness(nowMs: number): number {
    const { delayMsMax } = this.#limits
    const late = nowMs - this.#lookedMs - LOOK_MS
    if (late <= delayMsMax || this.#arrived < QUEUE_MIN) return 0
    // A turn that others interrupt is late, but has done nothing meanwhile.
    const ownMs = Math.min(late, this.#workedMs() - this.#lookedWorkMs)
    return Math.min(1, Math.max(0, ownMs / delayMsMax - 1) / LATE_TURNS)
  }

  /** Share of the time since it was asked last in which the loop had something to do. */
  #utilization(): number {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#seen)
    this.#seen = now
    return utilization
  }

  #move(by: number): void {
    this.#pressure = Math.min(1, Math.max(0, this.#pressure + by))
  }
}
