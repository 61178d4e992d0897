/** What the synchroniser is at: nothing known yet; proving headers; taking a snapshot; fetching blocks; at the best head known. */
export type SyncState = 'starting' | 'headers' | 'snapshot' | 'bodies' | 'synced'

/** How far this node is behind the network, as far as it knows. */
export interface SyncProgress {
  readonly state: SyncState
  /** Height of our head. */
  readonly height: number
  /** Height up to which the headers of the branch that is followed are proven; the head's where none is. */
  readonly headersHeight: number
  /** Height of the heaviest head that a peer claims, or our own. */
  readonly targetHeight: number
  /** Peers that have shaken hands. */
  readonly peers: number
  /** Blocks that joined the best chain a second over the last minute; 0 until measured. */
  readonly blocksPerSecond: number
  /** Estimate of what is left, null until measured. */
  readonly secondsLeft: number | null
  /** Whether what this node shows is older than what the network has: from the start until it caught up, and again when it fell back. */
  readonly behind: boolean
}

const WINDOW_MS = 60_000
const SAMPLES_MAX = 61
/** A rate over less time than this is no measurement. */
const MEASURED_MS = 2_000

interface Sample {
  readonly atMs: number
  readonly value: number
}

/** Speed of something that counts up: the average over the last minute. */
export class RateMeter {
  readonly #samples: Sample[] = []

  /** Notes how far it has come; at most one sample a second is kept. */
  note(atMs: number, value: number): void {
    const previous = this.#samples.at(-2)
    if (previous !== undefined && atMs - previous.atMs < WINDOW_MS / (SAMPLES_MAX - 1)) this.#samples.pop()
    this.#samples.push({ atMs, value })
    while (this.#samples.length > SAMPLES_MAX || atMs - (this.#samples[0] as Sample).atMs > WINDOW_MS)
      this.#samples.shift()
  }

  /** So many a second; 0 until measured over two seconds at least. */
  perSecond(): number {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs - first.atMs < MEASURED_MS) return 0
    return Math.max(0, ((last.value - first.value) * 1_000) / (last.atMs - first.atMs))
  }
}
