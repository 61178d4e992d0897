import type { Timers } from '../../../consensus/chain/ports.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import { LruSet } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import { askPatiently } from '../peers/patience.ts'
import type { Peers } from '../peers/peers.ts'
import { TRANSACTION_IDS_MAX } from '../wire/messages.ts'
import { pause } from './within.ts'

const GATHER_MS = 5
/** Wait between two messages to one peer. Without it a steady stream would use up the requests that the peer allows us. */
const BETWEEN_MS = 25
/** How often a busy peer is told the same ids. */
const BUSY_TIMES = 10
/** Most ids that wait for one peer. It is not told of further ones. */
const QUEUE_MAX = 8_192
/** Ids of which this node remembers that a peer knows them. */
const KNOWN_MAX = 8_192

interface Listener {
  readonly known: LruSet<WtxId>
  readonly queue: Set<WtxId>
  cancel: (() => void) | null
  telling: boolean
}

/** Tells peers of transactions by their ids, many in one message. */
export class Announcer {
  readonly #peers: Peers
  readonly #timers: Timers
  readonly #onTold: (ids: number) => void
  readonly #listeners = new Map<PeerId, Listener>()
  #stopped = false

  constructor(peers: Peers, timers: Timers, onTold: (ids: number) => void) {
    this.#peers = peers
    this.#timers = timers
    this.#onTold = onTold
  }

  knows(peer: PeerId, ids: readonly WtxId[]): void {
    const { known } = this.#listenerOf(peer)
    for (const id of ids) known.add(id)
  }

  tell(id: WtxId): void {
    if (this.#stopped) return
    for (const { info } of this.#peers.list()) {
      const listener = this.#listenerOf(info.id)
      if (listener.known.has(id) || listener.queue.size >= QUEUE_MAX) continue
      listener.known.add(id)
      listener.queue.add(id)
      this.#schedule(info.id, listener)
    }
  }

  gone(peer: PeerId): void {
    this.#listeners.get(peer)?.cancel?.()
    this.#listeners.delete(peer)
  }

  stop(): void {
    this.#stopped = true
    for (const { cancel } of this.#listeners.values()) cancel?.()
    this.#listeners.clear()
  }

  #listenerOf(peer: PeerId): Listener {
    const listener = this.#listeners.get(peer) ?? {
      known: new LruSet<WtxId>(KNOWN_MAX),
      queue: new Set<WtxId>(),
      cancel: null,
      telling: false,
    }
    this.#listeners.set(peer, listener)
    return listener
  }

  #schedule(peer: PeerId, listener: Listener): void {
    if (listener.cancel !== null || listener.telling || listener.queue.size === 0) return
    listener.cancel = this.#timers.after(GATHER_MS, () => {
      listener.cancel = null
      void this.#flush(peer, listener)
    })
  }

  /** One message at a time, so that a peer that reads slowly gets fewer and longer ones. */
  async #flush(peer: PeerId, listener: Listener): Promise<void> {
    const ids = [...listener.queue].slice(0, TRANSACTION_IDS_MAX)
    for (const id of ids) listener.queue.delete(id)
    listener.telling = true
    this.#onTold(ids.length)
    const patience = { peers: this.#peers, timers: this.#timers, times: BUSY_TIMES }
    const told = askPatiently(patience, peer, 'announce', ids).catch(() => undefined)
    await Promise.all([told, pause(this.#timers, BETWEEN_MS)])
    listener.telling = false
    if (this.#listeners.get(peer) === listener && !this.#stopped) this.#schedule(peer, listener)
  }
}
