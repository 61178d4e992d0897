import type { Timers } from '../../../consensus/chain/ports.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import type { PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { PAGE_BYTES } from '../wire/protocols.ts'
import { within } from './within.ts'

/** What the puller works with. */
export interface PullerDependencies {
  readonly peers: Peers
  readonly timers: Timers
  /** Whether a transaction is here, or not wanted. */
  readonly isSettled: (wtxId: WtxId) => boolean
  /** Decodes and reports; undefined for what does not decode. */
  readonly read: (from: PeerId, bytes: Uint8Array) => Transaction | undefined
  /** Takes what came; it never rejects. */
  readonly take: (from: PeerId, tx: Transaction) => Promise<unknown>
}

/** Who is asked for a transaction, and who after that. */
interface Wanted {
  current: PeerId
  readonly next: PeerId[]
}

/** Ids asked for in one request; their transactions mostly fit one reply. */
const BATCH = 128
/** Ids that wait in all, and for one peer. */
const WANTED_MAX = 16_384
const QUEUE_MAX = 4_096
/** Peers remembered that told of an id. */
const SOURCES_MAX = 4
/** How long one peer may keep us from asking the next one. */
const PATIENCE_MS = 2_000

/**
 * Asks peers for transactions that they told of: every id of one peer at a time, and of the next who told of it if that one
 * does not give it.
 */
export class Puller {
  readonly #deps: PullerDependencies
  readonly #wanted = new Map<WtxId, Wanted>()
  readonly #queues = new Map<PeerId, Set<WtxId>>()
  readonly #asking = new Set<PeerId>()
  #stopped = false

  constructor(dependencies: PullerDependencies) {
    this.#deps = dependencies
  }

  /** A peer has these. Those that we lack are asked for, as far as there is room; whether there was for all. */
  want(from: PeerId, ids: readonly WtxId[]): boolean {
    if (this.#stopped) return true
    let all = true
    for (const id of ids) all = this.#note(from, id) && all
    void this.#pump(from)
    return all
  }

  /** A peer is gone: others are asked for what it owes. */
  gone(peer: PeerId): void {
    const queue = this.#queues.get(peer)
    this.#queues.delete(peer)
    this.#handOn([...(queue ?? [])])
  }

  stop(): void {
    this.#stopped = true
    this.#wanted.clear()
    this.#queues.clear()
  }

  #note(from: PeerId, id: WtxId): boolean {
    const wanted = this.#wanted.get(id)
    if (wanted !== undefined) {
      const { current, next } = wanted
      if (current !== from && next.length < SOURCES_MAX && !next.includes(from)) next.push(from)
      return true
    }
    if (this.#deps.isSettled(id)) return true
    const queue = this.#queueOf(from)
    if (this.#wanted.size >= WANTED_MAX || queue.size >= QUEUE_MAX) return false
    this.#wanted.set(id, { current: from, next: [] })
    queue.add(id)
    return true
  }

  #queueOf(peer: PeerId): Set<WtxId> {
    const queue = this.#queues.get(peer) ?? new Set()
    this.#queues.set(peer, queue)
    return queue
  }

  /** Asks one peer for batch after batch while there is something to ask it for. */
  async #pump(peer: PeerId): Promise<void> {
    if (this.#asking.has(peer)) return
    this.#asking.add(peer)
    try {
      for (let batch = this.#batchFor(peer); batch.length > 0; batch = this.#batchFor(peer))
        await this.#ask(peer, batch)
    } finally {
      this.#asking.delete(peer)
    }
  }

  #batchFor(peer: PeerId): readonly WtxId[] {
    const queue = this.#queues.get(peer)
    if (queue === undefined || this.#stopped || !this.#deps.peers.isReady(peer)) {
      this.gone(peer)
      return []
    }
    const batch: WtxId[] = []
    for (const id of queue) {
      queue.delete(id)
      if (this.#deps.isSettled(id)) this.#wanted.delete(id)
      else batch.push(id)
      if (batch.length === BATCH) break
    }
    if (queue.size === 0 && batch.length === 0) this.#queues.delete(peer)
    return batch
  }

  async #ask(peer: PeerId, batch: readonly WtxId[]): Promise<void> {
    const { peers, timers } = this.#deps
    const reply = await within(timers, PATIENCE_MS, peers.exchange.ask(peer, 'transactions', batch))
    if (this.#stopped) return
    if (reply === undefined || !reply.ok) {
      // It is slow or unwilling: whatever others have too is theirs to give.
      this.gone(peer)
      this.#handOn(batch)
      return
    }
    const { left, cameBytes } = await this.#takeAll(peer, new Set(batch), reply.value)
    // A full page is cut off behind the last one that fits.
    const cut = cameBytes >= PAGE_BYTES / 2
    if (cut) for (const id of left) this.#queueOf(peer).add(id)
    else this.#handOn([...left])
    if (!cut && left.size === batch.length && batch.some((id) => !this.#deps.isSettled(id)))
      peers.report(peer, 'useless', 'transactions that it told of')
  }

  async #takeAll(
    ...[peer, asked, reply]: [PeerId, Set<WtxId>, readonly Uint8Array[]]
  ): Promise<{ readonly left: ReadonlySet<WtxId>; readonly cameBytes: number }> {
    let cameBytes = 0
    const takes: Promise<unknown>[] = []
    for (const bytes of reply) {
      const tx = this.#deps.read(peer, bytes)
      if (tx === undefined) continue
      if (!asked.delete(tx.wtxId)) {
        this.#deps.peers.report(peer, 'unasked', tx.wtxId)
        continue
      }
      cameBytes += bytes.length
      this.#wanted.delete(tx.wtxId)
      takes.push(this.#deps.take(peer, tx))
    }
    // The next batch comes when this one is worked through.
    await Promise.all(takes)
    return { left: asked, cameBytes }
  }

  /** Lets the next peer who told of them give what this one did not. */
  #handOn(ids: readonly WtxId[]): void {
    const sources = new Set<PeerId>()
    for (const id of ids) {
      const wanted = this.#wanted.get(id)
      const source = wanted?.next.shift()
      if (wanted === undefined || source === undefined) {
        this.#wanted.delete(id)
        continue
      }
      wanted.current = source
      this.#queueOf(source).add(id)
      sources.add(source)
    }
    for (const source of sources) void this.#pump(source)
  }
}
