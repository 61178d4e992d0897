import type { Timers } from '../../../consensus/chain/ports.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../network.ts'
import { isBusy } from '../peers/patience.ts'
import type { Peers } from '../peers/peers.ts'

/** What the pool synchronisation works with. */
export interface PoolSyncDependencies {
  readonly peers: Peers
  readonly timers: Timers
  /** Whether this node is still catching up. Until then it cannot judge what waits elsewhere. */
  readonly behind: () => boolean
  /** Takes ids that a peer has; false if there was no room for all of them. */
  readonly onIds: (from: PeerId, ids: readonly WtxId[]) => boolean
}

const FIRST_MS = { outbound: 1_000, inbound: 3_000 } as const
/** Wait while this node is behind, or after transactions were postponed because too many came. */
const LATER_MS = 5_000
/** How often the pool of a chosen peer is looked through. Gossip may lose something at any time, and seldom does. */
const REPEAT_MS = 600_000
/** Pages of one pool that are asked for. They hold the whole mempool of a node under the default settings. */
const PAGES_MAX = 4

/**
 * Looks through the pools of peers for transactions that this node missed or had no time for. Peers that came to us may be many and slow,
 * so they are looked at one after another, and not again once a look was complete, unless something that they sent is postponed.
 */
export class PoolSync {
  readonly #deps: PoolSyncDependencies
  readonly #due = new Map<PeerId, { readonly soon: boolean; readonly cancel: () => void }>()
  #lookingInbound = false
  #stopped = false

  constructor(dependencies: PoolSyncDependencies) {
    this.#deps = dependencies
  }

  joined(peer: PeerId, direction: 'inbound' | 'outbound'): void {
    this.#schedule(peer, FIRST_MS[direction])
  }

  postponed(peer: PeerId): void {
    if (this.#due.get(peer)?.soon !== true) this.#schedule(peer, LATER_MS)
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

  async #look(id: PeerId): Promise<void> {
    this.#due.delete(id)
    const { peers, behind } = this.#deps
    const inbound = peers.get(id)?.info.direction === 'inbound'
    if (behind() || (inbound && this.#lookingInbound)) return this.#schedule(id, LATER_MS)
    if (inbound) this.#lookingInbound = true
    const complete = await this.#pages(id)
    if (inbound) this.#lookingInbound = false
    if (this.#due.has(id)) return
    if (!complete) this.#schedule(id, LATER_MS)
    else if (!inbound) this.#schedule(id, REPEAT_MS)
  }

  /** False if the peer was busy, or there was no room for some of its ids. */
  async #pages(peer: PeerId): Promise<boolean> {
    let cursor = 0
    let complete = true
    for (let page = 0; page < PAGES_MAX && !this.#stopped; page++) {
      const reply = await this.#deps.peers.exchange.ask(peer, 'poolIds', { cursor })
      if (!reply.ok && isBusy(reply.fault)) return false
      if (!reply.ok || this.#stopped) break
      const { ids, next } = reply.value
      complete = this.#deps.onIds(peer, ids) && complete
      if (next <= cursor) break
      cursor = next
    }
    return complete
  }
}
