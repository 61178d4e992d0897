/**
 * `starting`: behind, and no branch is followed. `headers`: headers are proven. `snapshot`: a state is taken. `bodies`: blocks are fetched.
 * `synced`: not behind.
 */
export type SyncState = 'starting' | 'headers' | 'snapshot' | 'bodies' | 'synced'

/** How far this node is behind the network, as far as it knows. */
export interface SyncProgress {
  readonly state: SyncState
  readonly height: number
  /** Height up to which the headers of the followed branch are proven; our head's if none is followed. */
  readonly headersHeight: number
  /** Greatest height known: of our head, of the heavier heads that credible peers claim, or of the proven headers. */
  readonly targetHeight: number
  readonly peers: number
  /** Blocks a second that joined the best chain in the last minute; 0 until measured. */
  readonly blocksPerSecond: number
  /** Estimated seconds to `targetHeight`; null until measured, and while not behind. */
  readonly secondsLeft: number | null
  /** Whether this node is behind the network: from the start until it has caught up, and whenever it falls back. */
  readonly behind: boolean
}

const WINDOW_MS = 60_000
const SAMPLES_MAX = 61
/** A rate over less time than this says nothing. */
const MEASURED_MS = 2_000

interface Sample {
  readonly atMs: number
  readonly value: number
}

/** Speed of a growing count: its average over the last minute. */
export class RateMeter {
  readonly #samples: Sample[] = []

  /** At most one sample a second is kept. */
  note(atMs: number, value: number): void {
    const previous = this.#samples.at(-2)
    if (previous !== undefined && atMs - previous.atMs < WINDOW_MS / (SAMPLES_MAX - 1)) this.#samples.pop()
    this.#samples.push({ atMs, value })
    while (this.#samples.length > SAMPLES_MAX || atMs - (this.#samples[0] as Sample).atMs > WINDOW_MS)
      this.#samples.shift()
  }

  /** Growth a second; 0 until measured over two seconds. */
  perSecond(): number {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs - first.atMs < MEASURED_MS) return 0
    return Math.max(0, ((last.value - first.value) * 1_000) / (last.atMs - first.atMs))
  }
}
