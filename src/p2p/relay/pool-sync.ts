import type { Timers } from '../../../consensus/chain/ports.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'

/** What looking through pools works with. */
export interface PoolSyncDependencies {
  readonly peers: Peers
  readonly timers: Timers
  /** Whether this node is still catching up: what waits elsewhere means nothing to it yet. */
  readonly behind: () => boolean
  /** Takes ids that a peer has. */
  readonly onIds: (from: PeerId, ids: readonly WtxId[]) => void
}

/** Wait after the handshake, and while this node is behind. */
const FIRST_MS = 1_000
const BEHIND_MS = 5_000
/** Wait after transactions were put off because too many came. */
const POSTPONED_MS = 5_000
/** Gossip may lose something at any time, and seldom does. */
const REPEAT_MS = 600_000
/** Pages of one pool; a mempool has fewer ids. */
const PAGES_MAX = 4

/**
 * Looks through the pools of peers that we chose ourselves: for what was told while we were away, or had no time. Those that
 * came to us are looked through only when they had to be put off.
 */
export class PoolSync {
  readonly #deps: PoolSyncDependencies
  /** The next look at each peer's pool. */
  readonly #due = new Map<PeerId, { readonly soon: boolean; readonly cancel: () => void }>()
  #looking = false
  #stopped = false

  constructor(dependencies: PoolSyncDependencies) {
    this.#deps = dependencies
  }

  /** A peer has shaken hands. */
  joined(peer: PeerId, direction: 'inbound' | 'outbound'): void {
    if (direction === 'outbound') this.#schedule(peer, FIRST_MS)
  }

  /** Something that a peer sent was put off: its pool is looked through soon. */
  postponed(peer: PeerId): void {
    if (this.#due.get(peer)?.soon !== true) this.#schedule(peer, POSTPONED_MS)
  }

  gone(peer: PeerId): void {
    this.#due.get(peer)?.cancel()
    this.#due.delete(peer)
  }

  stop(): void {
    this.#stopped = true
    for (const { cancel } of this.#due.values()) cancel()
    this.#due.clear()
  }

  #schedule(peer: PeerId, ms: number): void {
    if (this.#stopped || !this.#deps.peers.isReady(peer)) return
    this.#due.get(peer)?.cancel()
    const cancel = this.#deps.timers.after(ms, () => void this.#look(peer))
    this.#due.set(peer, { soon: ms < REPEAT_MS, cancel })
  }

  async #look(peer: PeerId): Promise<void> {
    this.#due.delete(peer)
    if (this.#deps.behind() || this.#looking) return this.#schedule(peer, BEHIND_MS)
    this.#looking = true
    try {
      await this.#pages(peer)
    } finally {
      this.#looking = false
    }
    if (!this.#due.has(peer)) this.#schedule(peer, REPEAT_MS)
  }

  async #pages(peer: PeerId): Promise<void> {
    let cursor = 0
    for (let page = 0; page < PAGES_MAX && !this.#stopped; page++) {
      const reply = await this.#deps.peers.exchange.ask(peer, 'poolIds', { cursor })
      if (!reply.ok || this.#stopped) return
      const { ids, next } = reply.value
      this.#deps.onIds(peer, ids)
      if (next <= cursor) return
      cursor = next
    }
  }
}
