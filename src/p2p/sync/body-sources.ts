import type { Clock } from '../../../consensus/chain/ports.ts'
import type { PeerId } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'

/** Batches that a peer works on at once: the next one is on its way while the last one travels. */
const BATCHES_EACH = 2
/** Bytes that a batch is meant to have. */
const BATCH_BYTES = 512 * 1_024
const BATCH_BLOCKS_MAX = 32
const TIMES_KEPT = 32

interface Source {
  running: number
  /** Times that the import waited for it. */
  late: number
  restUntilMs: number
  excluded: boolean
}

/** Which peers blocks are fetched from, how much at once, and how long it takes. */
export class BodySources {
  readonly #peers: Peers
  readonly #clock: Clock
  readonly #sources = new Map<PeerId, Source>()
  readonly #times: number[] = []
  #bytesPerBlock = 32_768

  constructor(peers: Peers, clock: Clock) {
    this.#peers = peers
    this.#clock = clock
  }

  /** Blocks that a batch takes, by the size of those that came. */
  get batchBlocks(): number {
    return Math.max(1, Math.min(BATCH_BLOCKS_MAX, Math.floor(BATCH_BYTES / this.#bytesPerBlock)))
  }

  /** Median time of a batch, ms; undefined before the third. */
  get medianMs(): number | undefined {
    if (this.#times.length < 3) return undefined
    return [...this.#times].sort((a, b) => a - b)[this.#times.length >> 1]
  }

  /**
   * A peer with time that says it holds the block at a height: the one for which the import waited least often, then the one with the
   * least to do, then the quickest.
   */
  pick(height: number, not: ReadonlySet<PeerId>): PeerId | undefined {
    const usable = this.#peers.list().filter((peer) => !not.has(peer.info.id) && this.#isUsable(peer, height))
    return usable.sort((a, b) => this.#order(a, b))[0]?.info.id
  }

  /** Whether a peer could ever give the block at a height. */
  mayGive(id: PeerId, height: number): boolean {
    const peer = this.#peers.get(id)
    return peer !== undefined && holds(peer, height) && !this.#of(id).excluded
  }

  /** Whether a peer may be asked now, however much it has to do. */
  isRested(id: PeerId): boolean {
    return this.#clock.now() >= this.#of(id).restUntilMs
  }

  /** Notes that the import waits for a peer, which is asked nothing for a while. */
  late(id: PeerId, restMs: number): void {
    this.#of(id).late += 1
    this.rest(id, restMs)
  }

  started(id: PeerId): void {
    this.#of(id).running += 1
  }

  /** Notes how long an answer took, null where there was none. */
  ended(id: PeerId, ms: number | null): void {
    this.#of(id).running -= 1
    if (ms === null) return
    this.#times.push(ms)
    if (this.#times.length > TIMES_KEPT) this.#times.shift()
  }

  /** Notes the size of a block that came. */
  came(bytes: number): void {
    this.#bytesPerBlock += (Math.max(256, bytes) - this.#bytesPerBlock) / 8
  }

  /** Asks a peer nothing for a while. */
  rest(id: PeerId, ms: number): void {
    this.#of(id).restUntilMs = this.#clock.now() + ms
  }

  /** Asks a peer nothing more. */
  exclude(id: PeerId): void {
    this.#of(id).excluded = true
  }

  #isUsable(peer: Peer, height: number): boolean {
    const source = this.#of(peer.info.id)
    if (source.excluded || source.running >= BATCHES_EACH || !this.isRested(peer.info.id)) return false
    return holds(peer, height)
  }

  #order(a: Peer, b: Peer): number {
    const [one, other] = [this.#of(a.info.id), this.#of(b.info.id)]
    const waited = one.late - other.late || one.running - other.running
    return waited || (a.latencyMs ?? 1_000) - (b.latencyMs ?? 1_000)
  }

  #of(id: PeerId): Source {
    const source = this.#sources.get(id) ?? { running: 0, late: 0, restUntilMs: 0, excluded: false }
    this.#sources.set(id, source)
    return source
  }
}

/** Whether a peer says that it holds the block at a height with everything in it. */
export function holds({ status, head }: Peer, height: number): boolean {
  return Math.max(status.bodiesFrom, status.witnessesFrom) <= height && height <= head.height
}
