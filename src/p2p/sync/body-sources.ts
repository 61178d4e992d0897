import type { Clock } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { isChosen } from './candidates.ts'

/** Batches that a peer works on at once. One is prepared while another travels. */
const BATCHES_EACH = 2
/** Bytes that a batch should have. */
export const BATCH_BYTES = 512 * 1_024
const BATCH_BLOCKS_MAX = 32
const TIMES_KEPT = 32
const SOURCES_MAX = 4_096
/**
 * A peer that was late (see `BodySources.late`) this often comes after the others. Ten minutes after it was late last, this is forgotten.
 */
export const LATE_MAX = 2
const LATE_FORGOTTEN_MS = 600_000
/** How long a peer that gave a false body is asked for no bodies. */
const EXCLUDED_MS = 600_000

interface Source {
  running: number
  late: number
  lateMs: number
  restUntilMs: number
  excludedUntilMs: number
}

/** Chooses the peers that blocks are fetched from, and how many blocks a batch has. What it learns is kept from one branch to the next. */
export class BodySources {
  readonly #peers: Peers
  readonly #clock: Clock
  readonly #sources = new LruMap<PeerId, Source>(SOURCES_MAX)
  readonly #times: number[] = []
  #bytesPerBlock = 32_768

  constructor(peers: Peers, clock: Clock) {
    this.#peers = peers
    this.#clock = clock
  }

  get batchBlocks(): number {
    return Math.max(1, Math.min(BATCH_BLOCKS_MAX, Math.floor(BATCH_BYTES / this.#bytesPerBlock)))
  }

  /** Median time of the batches that came whole, in ms; undefined before the third. */
  get medianMs(): number | undefined {
    if (this.#times.length < 3) return undefined
    return [...this.#times].sort((a, b) => a - b)[this.#times.length >> 1]
  }

  /**
   * A free peer that says it holds the block at a height. Chosen peers that are not late come first. Late peers that came to us are asked
   * only if no chosen peer that is not late has the block.
   */
  pick(height: number, not: ReadonlySet<PeerId>): PeerId | undefined {
    const holding = this.#peers.list().filter((peer) => this.#mayGive(peer, height))
    const free = this.#freeOf(holding).filter(({ info }) => !not.has(info.id))
    return free.sort((a, b) => this.#order(a, b))[0]?.info.id
  }

  /** Whether any peer has time, whatever it holds. */
  get isAnyFree(): boolean {
    return this.#freeOf(this.#peers.list()).length > 0
  }

  /** Whether a peer says that it has the block at a height and is not excluded. */
  mayGive(id: PeerId, height: number): boolean {
    const peer = this.#peers.get(id)
    return peer !== undefined && this.#mayGive(peer, height)
  }

  /** Whether a peer may be asked now, however much it has to do. */
  isRested(id: PeerId): boolean {
    return this.#clock.now() >= this.#of(id).restUntilMs
  }

  /** Notes that the import waits for a peer, or that the peer gave less than it could. It is asked for no blocks for `restMs`. */
  late(id: PeerId, restMs: number): void {
    const late = this.#lateOf(id) + 1
    Object.assign(this.#of(id), { late, lateMs: this.#clock.now() })
    this.rest(id, restMs)
  }

  started(id: PeerId): void {
    this.#of(id).running += 1
  }

  ended(id: PeerId, ms: number | null): void {
    const source = this.#of(id)
    source.running = Math.max(0, source.running - 1)
    if (ms === null) return
    this.#times.push(ms)
    if (this.#times.length > TIMES_KEPT) this.#times.shift()
  }

  came(bytes: number): void {
    this.#bytesPerBlock += (Math.max(256, bytes) - this.#bytesPerBlock) / 8
  }

  rest(id: PeerId, ms: number): void {
    const source = this.#of(id)
    source.restUntilMs = Math.max(source.restUntilMs, this.#clock.now() + ms)
  }

  exclude(id: PeerId): void {
    this.#of(id).excludedUntilMs = this.#clock.now() + EXCLUDED_MS
  }

  #mayGive(peer: Peer, height: number): boolean {
    return holds(peer, height) && this.#clock.now() >= this.#of(peer.info.id).excludedUntilMs
  }

  #freeOf(peers: readonly Peer[]): Peer[] {
    const isBetterThere = peers.some((peer) => this.#isBest(peer))
    return peers.filter((peer) => {
      const { id } = peer.info
      const isLast = isBetterThere && !isChosen(peer) && this.#lateOf(id) >= LATE_MAX
      return !isLast && this.#of(id).running < BATCHES_EACH && this.isRested(id)
    })
  }

  #lateOf(id: PeerId): number {
    const { late, lateMs } = this.#of(id)
    return this.#clock.now() - lateMs < LATE_FORGOTTEN_MS ? late : 0
  }

  #isBest(peer: Peer): boolean {
    return isChosen(peer) && this.#lateOf(peer.info.id) < LATE_MAX
  }

  #order(a: Peer, b: Peer): number {
    const best = Number(this.#isBest(b)) - Number(this.#isBest(a))
    const waited = best || this.#lateOf(a.info.id) - this.#lateOf(b.info.id)
    const first = waited || this.#of(a.info.id).running - this.#of(b.info.id).running
    return first || (a.latencyMs ?? 1_000) - (b.latencyMs ?? 1_000)
  }

  #of(id: PeerId): Source {
    const known = this.#sources.get(id)
    if (known !== undefined) return known
    const source = { running: 0, late: 0, lateMs: 0, restUntilMs: 0, excludedUntilMs: 0 }
    this.#sources.set(id, source)
    return source
  }
}

/** Whether a peer says that it holds the block at a height with body and witnesses. */
export function holds({ status, head }: Peer, height: number): boolean {
  return Math.max(status.bodiesFrom, status.witnessesFrom) <= height && height <= head.height
}
