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

/**
 * Most blocks that are fetched ahead of the import, and most bytes of blocks here and under way. The next block to import is fetched in any
 * case.
 */
const AHEAD_BLOCKS = 256
const AHEAD_BYTES = 32 * 1_048_576
/**
 * If the block that the import waits for takes longer than twice the median time of a batch, another peer is asked too. These are the
 * bounds of that time.
 */
const SLOW_MS_MAX = 8_000
const SLOW_MS_MIN = 500
/** Most peers that are asked for the same block at the same time. One of these places may be kept for the owner of the branch. */
const TWINS_MAX = 3
const BUSY_REST_MS = 1_000
const REST_MS = 10_000

/** What body fetching works with. */
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
  /** Whether the branch's owner was asked for a batch that begins with this block, and gave nothing without being busy. */
  isRefused: boolean
}

/** Fetches the bodies of a proven branch from all peers that hold them, as far ahead of the import as memory allows. */
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

  /** `owner` is the peer whose branch it is. `changed` is woken whenever a body comes or a batch ends. */
  constructor(dependencies: BodyFetchDependencies, branch: ProvenBranch, owner: PeerId, changed: Signal) {
    this.#deps = dependencies
    this.#branch = branch
    this.#owner = owner
    this.#changed = changed
    this.#sources = dependencies.sources
  }

  front(): Block | undefined {
    const header = this.#branch.at(0)
    return header && this.#slots.get(header.id)?.block
  }

  /** Whether the owner of the branch is being asked for the next block to import, or was asked and gave nothing. */
  get isOwnerToBlame(): boolean {
    const header = this.#branch.at(0)
    const slot = header && this.#slots.get(header.id)
    return slot !== undefined && (slot.isRefused || slot.askedAt.has(this.#owner))
  }

  /** Forgets the block at the front of the branch. Call it before the branch drops the block's header. */
  release(): void {
    const header = this.#branch.at(0)
    const slot = header && this.#slots.get(header.id)
    if (slot === undefined) return
    this.#bytesHere -= slot.bytes
    this.#slots.delete(slot.header.id)
  }

  /** Bodies that still come are dropped. */
  close(): void {
    this.#closed = true
    this.#slots.clear()
  }

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
      // The peer that was asked last is slow. Earlier ones were noted as late when the next was asked.
      const slow = [...slot.askedAt.keys()].at(-1)
      if (slow !== undefined) this.#sources.late(slow, REST_MS)
      void this.#fetch(peer, this.#batchFrom(index, peer))
    }
  }

  /**
   * The peer to ask for a block next. If the import has waited too long for the block, that is the owner of the branch, because only the
   * owner can be blamed for it. While the owner rests, one of the `TWINS_MAX` places is kept for it.
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

  /** Whether to ask one more peer: no peer works on the block, or the import waits for it and its peers are slow. */
  #wantsAnother({ askedAt }: Slot, index: number): boolean {
    if (askedAt.size === 0) return true
    if (index > 0 || askedAt.size >= TWINS_MAX) return false
    return this.#deps.clock.now() - Math.max(...askedAt.values()) >= this.#slowMs
  }

  get #slowMs(): number {
    return Math.max(SLOW_MS_MIN, Math.min(SLOW_MS_MAX, 2 * (this.#sources.medianMs ?? SLOW_MS_MAX)))
  }

  /**
   * Missing blocks in a row from `index` on that this peer is not being asked for. If no other peer is asked for the first of them, none is
   * asked for the rest either.
   */
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
    // An honest answer is cut short only near its size limit.
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
