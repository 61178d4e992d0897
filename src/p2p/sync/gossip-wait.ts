import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Clock } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { Peer } from '../peers/peers.ts'

/** The newest blocks come by gossip; those that it lost are fetched after this. */
const GOSSIP_MS = 1_500
const GOSSIP_BLOCKS = 2

/** Leaves time for blocks that gossip may still bring, before they are fetched. */
export class GossipWait {
  readonly #chain: Pick<Chain, 'head'>
  readonly #clock: Clock
  /** Since when a peer is ahead of our head. */
  #ahead: { readonly of: BlockId; readonly sinceMs: number } | null = null

  constructor(chain: Pick<Chain, 'head'>, clock: Clock) {
    this.#chain = chain
    this.#clock = clock
  }

  /**
   * How long gossip may still take for a block or two that a peer has and we have not, in ms; 0 or less: no longer. The time runs
   * from our own head on: a peer that claims another head every moment must not begin it anew. Without a peer none is ahead.
   */
  leftMs(peer: Peer | undefined, isBehind: boolean): number {
    const { head } = this.#chain
    if (peer === undefined) this.#ahead = null
    if (peer === undefined || isBehind || peer.head.height - head.header.height > GOSSIP_BLOCKS) return 0
    if (this.#ahead?.of !== head.id) this.#ahead = { of: head.id, sinceMs: this.#clock.now() }
    return this.#ahead.sinceMs + GOSSIP_MS - this.#clock.now()
  }
}
