import type { WorkKind } from './overload.ts'

/**
 * What a request takes of the main thread at its worst, by its kind, milliseconds: a page of a long list, a quote with a long text. A
 * refusal is cheap, and each MiB that its client sends is dear: as measured at quotes with texts that are refused.
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
/** What a network has caused counts for half after this time. */
const HALF_LIFE_MS = 2_000
/** Networks that are remembered. */
const NETWORKS_MAX = 4_096
/** How often what all have caused is put together. */
const SUM_MS = 100

interface Burden {
  readonly ms: number
  readonly atMs: number
}

/**
 * How much of the main thread the requests of each network have taken lately. Where there is not enough for all, who takes far less than
 * others is not why.
 */
export class Burdens {
  /** Those that came last at the end. */
  readonly #ofNetwork = new Map<string, Burden>()
  /** Sum of what all have taken, and of its squares. */
  #sum = 0
  #squares = 0
  #summedMs = Number.NEGATIVE_INFINITY

  /** Counts a request that was let in. */
  worked(network: string, kind: WorkKind, nowMs: number): void {
    this.#count(network, WORK_MS[kind], nowMs)
  }

  /** Counts a request that was refused. */
  refused(network: string, nowMs: number): void {
    this.#count(network, REFUSED_MS, nowMs)
  }

  /** Counts bytes that came. */
  read(network: string, bytes: number, nowMs: number): void {
    if (bytes > 0) this.#count(network, (bytes / MIB) * MIB_MS, nowMs)
  }

  /**
   * What a network has taken over what each would if all took as much, 0 to 1. As many count as would make up the sum if they were alike
   * (inverse Herfindahl index): neither those that take nearly nothing change it, nor one that takes nearly all.
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
