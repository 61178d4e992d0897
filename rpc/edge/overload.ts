import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { RateBucket } from '../contract/route.ts'

/** Kinds of work in the order in which an overloaded node gives them up; `kept` is given up last of all. */
export const WORK_KINDS = ['list', 'read', 'quote', 'transaction', 'kept'] as const
/** One of {@link WORK_KINDS}. */
export type WorkKind = (typeof WORK_KINDS)[number]

/** The kind of a request by its bucket: what is cheap to ask again goes first, what somebody paid for stays. */
export const WORK_OF: Readonly<Record<RateBucket, WorkKind>> = {
  list: 'list',
  simulate: 'list',
  read: 'read',
  events: 'read',
  mcp: 'quote',
  quote: 'quote',
  mining: 'transaction',
  transaction: 'transaction',
  settle: 'kept',
  health: 'kept',
}

/** When an overload begins and ends. */
export interface OverloadLimits {
  /** Delay of the event loop from which on more and more is refused. */
  readonly delayMsHigh: number
  /** Delay under which less and less is refused. In between everything stays as it is. */
  readonly delayMsLow: number
  /** Requests under way at once; each kind of work may take its share of them. */
  readonly concurrentMax: number
}

/** Pressure at which the first of a kind is refused, and at which all are. What is kept knows no pressure. */
const SHED_BETWEEN: Readonly<Record<WorkKind, readonly [number, number]>> = {
  list: [0.1, 0.35],
  read: [0.2, 0.6],
  quote: [0.3, 0.8],
  transaction: [0.6, 1],
  kept: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
}
/** Share of the requests at once that may be under way when one more of a kind is let in. */
const CONCURRENT_SHARE: Readonly<Record<WorkKind, number>> = {
  list: 0.5,
  read: 0.8,
  quote: 0.85,
  transaction: 0.95,
  kept: 1,
}
const SAMPLE_MS = 100
const RESOLUTION_MS = 10
const NANOSECONDS_PER_MS = 1e6
/** Pressure added by a sample as bad as the limit; a worse one adds more, up to four times. */
const RISE = 0.05
const RISE_FACTOR_MAX = 4
/** Slower than the rise: a node that opens again at once is overloaded again at once. */
const FALL = 0.02
const RETRY_SECONDS_MAX = 5

/**
 * Refuses work while the node has more of it than it can do in time. The measure is how late the event loop is, since all
 * requests wait for it; pressure rises while it is late, falls slowly once it is not, and says how much of which work is
 * refused. So latency stays near the limit, however much is offered.
 */
export class Overload {
  readonly #limits: OverloadLimits
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #timer: NodeJS.Timeout
  readonly #owed = new Map<WorkKind, number>()
  #pressure = 0

  constructor(limits: OverloadLimits) {
    this.#limits = limits
    this.#delay.enable()
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS).unref()
  }

  /** 0: everything is let in; 1: only what is kept. */
  get pressure(): number {
    return this.#pressure
  }

  /** Whether one more request of a kind is let in beside those under way. */
  admits(kind: WorkKind, running: number): boolean {
    if (running > Math.ceil(this.#limits.concurrentMax * CONCURRENT_SHARE[kind])) return false
    const [first, all] = SHED_BETWEEN[kind]
    if (this.#pressure <= first) return true
    // Refusals are spread evenly: of three in ten every third or fourth is refused, by no chance.
    const owed = (this.#owed.get(kind) ?? 0) + Math.min(1, (this.#pressure - first) / (all - first))
    this.#owed.set(kind, owed >= 1 ? owed - 1 : owed)
    return owed < 1
  }

  /** Seconds after which trying again makes sense. */
  get retrySeconds(): number {
    return Math.max(1, Math.ceil(this.#pressure * RETRY_SECONDS_MAX))
  }

  /** Takes one measurement of the event loop's delay. */
  observe(delayMs: number): void {
    const { delayMsHigh, delayMsLow } = this.#limits
    if (delayMs > delayMsHigh) this.#move(RISE * Math.min(RISE_FACTOR_MAX, delayMs / delayMsHigh))
    else if (delayMs < delayMsLow) this.#move(-FALL)
  }

  /** Measures no more. */
  close(): void {
    clearInterval(this.#timer)
    this.#delay.disable()
  }

  /** The histogram holds whole periods of its timer: the period itself is no delay. */
  #sample(): void {
    const { mean, count } = this.#delay
    this.#delay.reset()
    if (count > 0) this.observe(Math.max(0, mean / NANOSECONDS_PER_MS - RESOLUTION_MS))
  }

  #move(by: number): void {
    this.#pressure = Math.min(1, Math.max(0, this.#pressure + by))
  }
}
