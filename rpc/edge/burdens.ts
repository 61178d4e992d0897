import type { WorkKind } from './overload.ts'

/**
 * Milliseconds of the main thread that a request of each kind takes at worst: a page of a long list, a quote with a
 * long text. A refusal is cheap, but each MiB that a client sends is dear, as measured with refused quotes.
 */
const WORK_MS: Readonly<Record<WorkKind, number>> = {
  list: 25,
  read: 1,
  quote: 2,
  transaction: 2,
  kept: 1,
  health: 0.2,
  operator: 1,
}
const REFUSED_MS = 0.05
const MIB_MS = 8
const MIB = 1_048_576
/** Period after which the main thread's time that a network took counts half. */
const HALF_LIFE_MS = 2_000
const NETWORKS_MAX = 4_096
/** Least time between two sums over all networks. */
const SUM_MS = 100

interface Burden {
  readonly ms: number
  readonly atMs: number
}

/**
 * How much of the main thread's time each network took lately. A network that takes far less than others does not cause
 * an overload.
 */
export class Burdens {
  /** The network counted last is at the end. */
  readonly #ofNetwork = new Map<string, Burden>()
  /** The sum of the times of all networks, and the sum of the squares of these times. */
  #sum = 0
  #squares = 0
  #summedMs = Number.NEGATIVE_INFINITY

  worked(network: string, kind: WorkKind, nowMs: number): void {
    this.#count(network, WORK_MS[kind], nowMs)
  }

  refused(network: string, nowMs: number): void {
    this.#count(network, REFUSED_MS, nowMs)
  }

  read(network: string, bytes: number, nowMs: number): void {
    if (bytes > 0) this.#count(network, (bytes / MIB) * MIB_MS, nowMs)
  }

  /**
   * The time of a network divided by the average, at most 1. The average is over the effective number of networks (inverse
   * Herfindahl index), so many networks that take nearly nothing do not lower it.
   */
  weightOf(network: string, nowMs: number): number {
    if (nowMs - this.#summedMs >= SUM_MS) this.#add(nowMs)
    const own = this.#of(network, nowMs)
    if (this.#sum === 0 || own >= this.#sum) return 1
    return Math.min(1, (own * this.#sum) / this.#squares)
  }

  #count(network: string, ms: number, nowMs: number): void {
    const sum = this.#of(network, nowMs) + ms
    this.#ofNetwork.delete(network)
    this.#ofNetwork.set(network, { ms: sum, atMs: nowMs })
    if (this.#ofNetwork.size > NETWORKS_MAX) this.#ofNetwork.delete(this.#ofNetwork.keys().next().value as string)
  }

  #add(nowMs: number): void {
    this.#summedMs = nowMs
    this.#sum = 0
    this.#squares = 0
    for (const { ms, atMs } of this.#ofNetwork.values()) {
      const now = faded(ms, nowMs - atMs)
      this.#sum += now
      this.#squares += now * now
    }
  }

  #of(network: string, nowMs: number): number {
    const burden = this.#ofNetwork.get(network)
    return burden === undefined ? 0 : faded(burden.ms, nowMs - burden.atMs)
  }
}

function faded(ms: number, passedMs: number): number {
  return ms * 0.5 ** (passedMs / HALF_LIFE_MS)
}
