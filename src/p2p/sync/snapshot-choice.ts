import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { Peer } from '../peers/peers.ts'
import type { SnapshotRef } from '../wire/messages.ts'

/** Snapshots that are remembered for having come to nothing. */
const FAILED_MAX = 64
/** An offer of a peer that we chose counts as so many of peers that came to us, who may be one: more than can be connected. */
const CHOSEN_WEIGHT = 4_096

/** A snapshot with what speaks for it. */
interface Offer {
  readonly ref: SnapshotRef
  weight: number
}

/**
 * Chooses the snapshot that is taken. That a peer has one is a claim, which costs nothing: the newest one may be a liar's alone, who
 * gives none of it, or a page at a time for ever. So what most peers offer comes first, and each time that it came to nothing
 * counts for half of them.
 */
export class SnapshotChoice {
  readonly #failures = new LruMap<BlockId, number>(FAILED_MAX)

  /** The usable snapshot that most speaks for, the newest on a tie. */
  best(peers: readonly Peer[], isUsable: (ref: SnapshotRef) => boolean): SnapshotRef | undefined {
    const offers = new Map<BlockId, Offer>()
    for (const { info, status } of peers) {
      const weight = info.direction === 'outbound' ? CHOSEN_WEIGHT : 1
      const usable = new Map(status.snapshots.filter(isUsable).map((ref) => [ref.id, ref]))
      for (const ref of usable.values()) {
        const offer = offers.get(ref.id) ?? { ref, weight: 0 }
        offer.weight += weight
        offers.set(ref.id, offer)
      }
    }
    const worth = ({ ref, weight }: Offer): number => weight / 2 ** (this.#failures.get(ref.id) ?? 0)
    return [...offers.values()].sort((a, b) => worth(b) - worth(a) || b.ref.height - a.ref.height)[0]?.ref
  }

  /** Notes that a snapshot was not taken. */
  failed({ id }: SnapshotRef): void {
    this.#failures.set(id, (this.#failures.get(id) ?? 0) + 1)
  }
}
