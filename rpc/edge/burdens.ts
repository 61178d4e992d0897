/** What a request takes of the main thread, and each MiB of its body: as measured at quotes with texts that are refused. */
const REQUEST_MS = 0.3
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

  /** Counts a request whose client has sent so many bytes for it. */
  add(network: string, bytes: number, nowMs: number): void {
    const ms = this.#of(network, nowMs) + REQUEST_MS + (bytes / MIB) * MIB_MS
    this.#ofNetwork.delete(network)
    this.#ofNetwork.set(network, { ms, atMs: nowMs })
    if (this.#ofNetwork.size > NETWORKS_MAX) this.#ofNetwork.delete(this.#ofNetwork.keys().next().value as string)
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
