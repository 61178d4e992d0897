import { performance } from 'node:perf_hooks'
import type { RateBucket } from '../contract/route.ts'

/**
 * Kinds of work, in the order in which a node without room refuses them. The last three are never refused for lack of
 * time: known payments (`kept`), health checks, and requests of the operator.
 */
export const WORK_KINDS = ['list', 'read', 'quote', 'transaction', 'kept', 'health', 'operator'] as const
/** One of {@link WORK_KINDS}. */
export type WorkKind = (typeof WORK_KINDS)[number]

/**
 * Kind of a request by its bucket. What a client can easily ask again is refused first. A call with a payment counts as
 * a transaction. Before it is refused, it is judged as `kept` if the node knows the payment and its payer shows it.
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
  tab: 'transaction',
  health: 'health',
}

/** Bounds of {@link Overload}. */
export interface OverloadLimits {
  /** Delay of the event loop above which pressure rises, if the loop is busy and has a queue. Otherwise pressure falls. */
  readonly delayMsMax: number
}

const NEVER = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as const
/** Pressure above which some requests of a kind are refused, and at which all are. */
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
 * Least share of the pressure that a network feels, however little time it takes. At full pressure it still loses most
 * lists, which cost most, and no quotes. An attacker who makes others seem to take more time gains no more than that.
 */
const WEIGHT_MIN = 0.3
/** Requests per turn of the loop that count as a queue. With fewer, other work of the machine makes the loop late. */
const QUEUE_MIN = 16
/** Share of the limit below which pressure falls at its full pace. Nearer the limit it falls more slowly. */
const LOW_SHARE = 1 / 3
/** Least time of a sample. */
const SAMPLE_MS = 100
/** Interval of the timer that measures the loop. A turn that takes longer delays it. */
const LOOK_MS = 20
/** Pressure that a sample at the limit adds. A worse one adds more, up to `RISE_FACTOR_MAX` times. */
const RISE = 0.04
const RISE_FACTOR_MAX = 3
/** A turn that is late by the limit plus this many times the limit is full pressure. */
const LATE_TURNS = 3
/** Pressure that a sample takes off at most. Less than the rise: a node that reopens at once is overloaded again at once. */
const FALL = 0.02
/**
 * Share of busy time at which the loop counts as behind. A loop that rests in between has done all its work: if it is
 * late, other programs have the processor, and refusing requests would not help.
 */
const BUSY_SHARE = 0.9
/** Time over which the busy share is smoothed, and the most that one sample weighs: one long turn is no overload. */
const BUSY_MS = 500
const BUSY_WEIGHT_MAX = 0.5
const RETRY_SECONDS_MAX = 5

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/**
 * Refuses work while the node has more of it than it can do in time. It measures how late the event loop is, because all
 * requests wait for the loop. Pressure rises while the loop is late, busy and has a queue, and falls slowly otherwise.
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

  /** `workedMs` gives the processor time of this thread, in milliseconds. */
  constructor(limits: OverloadLimits, workedMs: () => number = processorMs) {
    this.#limits = limits
    this.#workedMs = workedMs
    this.#lookedWorkMs = workedMs()
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_MS).unref()
  }

  /** 0: nothing is refused. 1: of a network with full weight, only the kinds get in that are never refused for lack of time. */
  get pressure(): number {
    return this.#pressure
  }

  /** Counts a request, refused or not. */
  arrived(): void {
    this.#arrived += 1
  }

  /** Whether there is time for one more request. `weight`, 0 to 1: how much its network causes the lack of time. */
  admits(kind: WorkKind, nowMs: number, weight = 1): boolean {
    const [first, all] = SHED_BETWEEN[kind]
    const pressure = Math.max(weight, WEIGHT_MIN) * Math.max(this.#pressure, this.#lateness(nowMs))
    if (pressure <= first) return true
    // Refusals are spread evenly, not drawn by chance: at a share of 0.3, every third or fourth request.
    const owed = (this.#owed.get(kind) ?? 0) + Math.min(1, (pressure - first) / (all - first))
    this.#owed.set(kind, owed >= 1 ? owed - 1 : owed)
    return owed < 1
  }

  /** Value for `Retry-After`. */
  get retrySeconds(): number {
    return Math.max(1, Math.ceil(this.#pressure * RETRY_SECONDS_MAX))
  }

  /** One measurement of the loop: its delay, the requests per turn, the duration in multiples of a sample, and the busy share. */
  observe(delayMs: number, perTurn: number, samples = 1, busyShare = 1): void {
    const { delayMsMax } = this.#limits
    const isQueue = perTurn >= QUEUE_MIN && busyShare >= BUSY_SHARE
    if (!isQueue) this.#move(-FALL)
    else if (delayMs > delayMsMax) this.#move(samples * RISE * Math.min(RISE_FACTOR_MAX, delayMs / delayMsMax))
    else this.#move(-FALL * Math.min(1, (1 - delayMs / delayMsMax) / (1 - LOW_SHARE)))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /**
   * Measures the delay with a timer. Node's own histogram of delays does not count the turn that follows a reset. If it
   * were reset at every sample, a slow turn would always be that one.
   */
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

  /** Pressure of the current turn, which no sample covers yet. */
  #lateness(nowMs: number): number {
    const { delayMsMax } = this.#limits
    const late = nowMs - this.#lookedMs - LOOK_MS
    if (late <= delayMsMax || this.#arrived < QUEUE_MIN) return 0
    // While other programs have the processor, the turn is late without doing work.
    const ownMs = Math.min(late, this.#workedMs() - this.#lookedWorkMs)
    return Math.min(1, Math.max(0, ownMs / delayMsMax - 1) / LATE_TURNS)
  }

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
