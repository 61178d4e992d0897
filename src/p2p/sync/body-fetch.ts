import type { Block } from '../../../consensus/block/block.ts'
import { decodeHeader } from '../../../consensus/block/header.ts'
import type { Clock, Pacer, Timers } from '../../../consensus/chain/ports.ts'
import { assert } from '../../../consensus/primitives/assert.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../network.ts'
import { isBusy } from '../peers/patience.ts'
import type { Peers } from '../peers/peers.ts'
import { blockOf } from '../wire/body.ts'
import { PROTOCOLS } from '../wire/protocols.ts'
import { BATCH_BYTES, type BodySources } from './body-sources.ts'
import type { BranchHeader, ProvenBranch } from './proven-branch.ts'
import type { Signal } from './signal.ts'

/** Blocks fetched ahead of the import at most, and their bytes, those under way included. */
const AHEAD_BLOCKS = 256
const AHEAD_BYTES = 32 * 1_048_576
/** A batch at the front that takes longer than this, or twice the median, is given to another peer too. */
const SLOW_MS_MAX = 8_000
const SLOW_MS_MIN = 500
/** Peers that work on the same block at most; one place among them is for the owner of the branch. */
const TWINS_MAX = 3
const BUSY_REST_MS = 1_000
const REST_MS = 10_000

/** What bodies are fetched with. */
export interface BodyFetchDependencies {
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  readonly pacer: Pacer
  readonly sources: BodySources
}

interface Slot {
  readonly header: BranchHeader
  block: Block | undefined
  bytes: number
  readonly askedAt: Map<PeerId, number>
  /** Whether the owner of the branch was asked for it before all others, and did not give it. */
  isRefused: boolean
}

/**
 * Fetches the bodies of a proven branch from all peers that hold them, so many ahead of the import as memory is set aside
 * for. Whatever does not come is asked of another peer; roots are checked on arrival.
 */
export class BodyFetch {
  readonly #deps: BodyFetchDependencies
  readonly #branch: ProvenBranch
  readonly #owner: PeerId
  readonly #changed: Signal
  readonly #sources: BodySources
  readonly #slots = new Map<BlockId, Slot>()
  /** The block that the import waits for, and since when. */
  #front: { readonly id: BlockId; readonly sinceMs: number } | undefined
  #running = 0
  #bytesHere = 0
  #closed = false

  /** `owner` is the peer whose branch it is; `changed` is woken whenever a batch ends. */
  constructor(dependencies: BodyFetchDependencies, branch: ProvenBranch, owner: PeerId, changed: Signal) {
    this.#deps = dependencies
    this.#branch = branch
    this.#owner = owner
    this.#changed = changed
    this.#sources = dependencies.sources
  }

  /** The block of the branch's first header, if it is here. */
  front(): Block | undefined {
    const header = this.#branch.at(0)
    return header && this.#slots.get(header.id)?.block
  }

  /** Whether the owner of the branch was asked for the first block, and has not given it. */
  get isOwnerToBlame(): boolean {
    const header = this.#branch.at(0)
    const slot = header && this.#slots.get(header.id)
    return slot !== undefined && (slot.isRefused || slot.askedAt.has(this.#owner))
  }

  /** Forgets the first block; call before the branch lets go of its header. */
  release(): void {
    const header = this.#branch.at(0)
    const slot = header && this.#slots.get(header.id)
    if (slot === undefined) return
    this.#bytesHere -= slot.bytes
    this.#slots.delete(slot.header.id)
  }

  /** Fetches nothing more; what still comes is dropped. */
  close(): void {
    this.#closed = true
    this.#slots.clear()
  }

  /** Gives work to every peer that has time for it. */
  fill(): void {
    const front = this.#branch.at(0)
    if (front !== undefined && front.id !== this.#front?.id)
      this.#front = { id: front.id, sinceMs: this.#deps.clock.now() }
    for (let index = 0; index < Math.min(AHEAD_BLOCKS, this.#branch.length); index++) {
      if (this.#closed || (index > 0 && !this.#hasRoom)) return
      const slot = this.#slotAt(index)
      if (slot.block !== undefined || !this.#wantsAnother(slot, index)) continue
      if (index > 0 && !this.#sources.isAnyFree) return
      const peer = this.#next(slot)
      if (peer === undefined) continue
      // The one that was asked last is slow; those before it were noted when it was asked.
      const slow = [...slot.askedAt.keys()].at(-1)
      if (slow !== undefined) this.#sources.late(slow, REST_MS)
      void this.#fetch(peer, this.#batchFrom(index, peer))
    }
  }

  /**
   * The peer that is asked for a block next. Where the import waits for that for too long, it is the owner of the branch: only the owner
   * can be blamed for the block. If the owner rests, the last of the places is kept for it.
   */
  #next({ header: { id, height }, askedAt }: Slot): PeerId | undefined {
    const { clock } = this.#deps
    const isLate = id === this.#front?.id && clock.now() - this.#front.sinceMs >= this.#slowMs
    const isOwnerLeft = isLate && !askedAt.has(this.#owner) && this.#sources.mayGive(this.#owner, height)
    if (isOwnerLeft && this.#sources.isRested(this.#owner)) return this.#owner
    return isOwnerLeft && askedAt.size === TWINS_MAX - 1
      ? undefined
      : this.#sources.pick(height, new Set(askedAt.keys()))
  }

  get #hasRoom(): boolean {
    return this.#bytesHere + (this.#running + 1) * PROTOCOLS.bodies.replyMax <= AHEAD_BYTES
  }

  #slotAt(index: number): Slot {
    const header = this.#branch.at(index) as BranchHeader
    const unasked = { header, block: undefined, bytes: 0, askedAt: new Map(), isRefused: false }
    const slot = this.#slots.get(header.id) ?? unasked
    this.#slots.set(header.id, slot)
    return slot
  }

  /** A block that nobody works on; or the one that the import waits for, where whoever works on it is slow. */
  #wantsAnother({ askedAt }: Slot, index: number): boolean {
    if (askedAt.size === 0) return true
    if (index > 0 || askedAt.size >= TWINS_MAX) return false
    return this.#deps.clock.now() - Math.max(...askedAt.values()) >= this.#slowMs
  }

  get #slowMs(): number {
    return Math.max(SLOW_MS_MIN, Math.min(SLOW_MS_MAX, 2 * (this.#sources.medianMs ?? SLOW_MS_MAX)))
  }

  /** Blocks in a row from one on that lack the same as it. */
  #batchFrom(index: number, peer: PeerId): readonly Slot[] {
    const end = Math.min(index + this.#sources.batchBlocks, AHEAD_BLOCKS, this.#branch.length)
    const batch: Slot[] = []
    const twin = this.#slotAt(index).askedAt.size > 0
    for (let i = index; i < end; i++) {
      const slot = this.#slotAt(i)
      if (slot.block !== undefined || slot.askedAt.has(peer) || (!twin && slot.askedAt.size > 0)) break
      batch.push(slot)
    }
    return batch
  }

  async #fetch(peer: PeerId, batch: readonly Slot[]): Promise<void> {
    const { peers, clock } = this.#deps
    const startedMs = clock.now()
    for (const slot of batch) slot.askedAt.set(peer, startedMs)
    this.#running += 1
    this.#sources.started(peer)
    const ids = batch.map(({ header }) => header.id)
    const reply = await peers.exchange.ask(peer, 'bodies', ids)
    const isWhole = reply.ok && reply.value.length >= batch.length
    this.#sources.ended(peer, isWhole ? clock.now() - startedMs : null)
    if (reply.ok) await this.#take(peer, batch, reply.value)
    else this.#sources.rest(peer, isBusy(reply.fault) ? BUSY_REST_MS : REST_MS)
    const [first] = batch
    const isNothing = reply.ok ? reply.value.length === 0 : !isBusy(reply.fault)
    if (first !== undefined && peer === this.#owner && isNothing) first.isRefused = true
    this.#running -= 1
    for (const slot of batch) slot.askedAt.delete(peer)
    this.#changed.wake()
  }

  async #take(peer: PeerId, batch: readonly Slot[], bodies: readonly (readonly Uint8Array[])[]): Promise<void> {
    const { peers, pacer } = this.#deps
    if (bodies.length > batch.length) peers.report(peer, 'unasked', 'bodies of blocks that this node did not ask for')
    // An honest answer ends where it would become too large, which is seldom so soon. One without a body would be asked for again at once.
    const bytes = bodies.flat().reduce((sum, { length }) => sum + length, 0)
    if (bodies.length < batch.length && bytes < BATCH_BYTES) this.#sources.late(peer, bodies.length === 0 ? REST_MS : 0)
    for (const [i, slot] of batch.entries()) {
      const body = bodies[i]
      if (this.#closed || body === undefined) return
      if (slot.block !== undefined || this.#slots.get(slot.header.id) !== slot) continue
      const header = decodeHeader(slot.header.bytes)
      assert(header.ok, 'a proven header decodes')
      const block = blockOf(header.value, body)
      if (block === undefined) {
        this.#sources.exclude(peer)
        peers.report(peer, 'bad-body', `${slot.header.id} at height ${slot.header.height}`)
        return
      }
      slot.block = block
      slot.bytes = body.reduce((sum, { length }) => sum + length, 0)
      this.#bytesHere += slot.bytes
      this.#sources.came(slot.bytes)
      this.#changed.wake()
      if (pacer.due()) await pacer.pause()
    }
  }
}
