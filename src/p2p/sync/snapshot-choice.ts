import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import type { Peer } from '../peers/peers.ts'
import type { SnapshotRef } from '../wire/messages.ts'

const FAILED_MAX = 1_024
/**
 * An offer of a chosen peer weighs as much as so many offers of peers that came to us. Peers that came to us may all be one attacker, but
 * so many of them cannot be connected.
 */
const CHOSEN_WEIGHT = 4_096
const FAILURES_MAX = 64

interface Offer {
  readonly ref: SnapshotRef
  weight: number
  isOwn: boolean
}

/**
 * Chooses the snapshot to take. An offer costs nothing: the newest one may be a liar's alone, who gives none of it, or a page at a time for
 * ever. So the offer of most peers goes first, and each failed offer of a peer halves its weight.
 */
export class SnapshotChoice {
  readonly #nameOf: (peer: PeerId) => string
  #failures = new LruMap<string, number>(FAILED_MAX)

  /** `nameOf` gives a name of a peer that is dear to change. */
  constructor(nameOf: (peer: PeerId) => string) {
    this.#nameOf = nameOf
  }

  /** The usable snapshot with most weight. On a tie one that `owner` offers, whose branch it is, then the newest. */
  best(peers: readonly Peer[], owner: PeerId, isUsable: (ref: SnapshotRef) => boolean): SnapshotRef | undefined {
    return this.#offers(peers, owner, isUsable)[0]?.ref
  }

  /** Whether peers that do not offer this snapshot offer another with at least half its weight. This one may be a liar's alone. */
  hasRival(peers: readonly Peer[], { id }: SnapshotRef, isUsable: (ref: SnapshotRef) => boolean): boolean {
    const own = this.#offers(peers, null, (ref) => ref.id === id)[0]?.weight ?? 0
    const others = peers.filter(({ status }) => status.snapshots.every((ref) => ref.id !== id))
    return this.#offers(others, null, isUsable).some(({ weight }) => 2 * weight >= own)
  }

  #offers(peers: readonly Peer[], owner: PeerId | null, isUsable: (ref: SnapshotRef) => boolean): readonly Offer[] {
    const offers = new Map<BlockId, Offer>()
    for (const { info, status } of peers) {
      const failures = this.#failures.get(this.#nameOf(info.id)) ?? 0
      const weight = (info.direction === 'outbound' ? CHOSEN_WEIGHT : 1) / 2 ** failures
      const usable = new Map(status.snapshots.filter(isUsable).map((ref) => [ref.id, ref]))
      for (const ref of usable.values()) {
        const offer = offers.get(ref.id) ?? { ref, weight: 0, isOwn: false }
        offer.weight += weight
        offer.isOwn ||= info.id === owner
        offers.set(ref.id, offer)
      }
    }
    const order = (a: Offer, b: Offer): number =>
      b.weight - a.weight || Number(b.isOwn) - Number(a.isOwn) || b.ref.height - a.ref.height
    return [...offers.values()].sort(order)
  }

  succeeded(): void {
    this.#failures = new LruMap(FAILED_MAX)
  }

  failed(offerers: readonly PeerId[]): void {
    for (const name of new Set(offerers.map(this.#nameOf)))
      this.#failures.set(name, Math.min(FAILURES_MAX, (this.#failures.get(name) ?? 0) + 1))
  }
}
