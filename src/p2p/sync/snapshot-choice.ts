import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import type { Peer } from '../peers/peers.ts'
import type { SnapshotRef } from '../wire/messages.ts'

/** Peers that are remembered for having offered what came to nothing. */
const FAILED_MAX = 1_024
/** An offer of a peer that we chose counts as so many of peers that came to us, who may be one: more than can be connected. */
const CHOSEN_WEIGHT = 4_096
/** Failures of a peer that are counted. */
const FAILURES_MAX = 64

/** A snapshot with what speaks for it. */
interface Offer {
  readonly ref: SnapshotRef
  weight: number
  /** Whether the peer offers it whose branch is followed. */
  isOwn: boolean
}

/**
 * Chooses the snapshot that is taken. That a peer has one is a claim, which costs nothing: the newest one may be a liar's alone, who
 * gives none of it, or a page at a time for ever. So what most peers offer comes first, and each time that one of its offers came to
 * nothing a peer counts for half: another offer costs a liar nothing.
 */
export class SnapshotChoice {
  readonly #nameOf: (peer: PeerId) => string
  #failures = new LruMap<string, number>(FAILED_MAX)

  /** `nameOf` names peers so that a name is dear to change. */
  constructor(nameOf: (peer: PeerId) => string) {
    this.#nameOf = nameOf
  }

  /** The usable snapshot that most speaks for; on a tie one that `owner` offers, who shows that branch, then the newest. */
  best(peers: readonly Peer[], owner: PeerId, isUsable: (ref: SnapshotRef) => boolean): SnapshotRef | undefined {
    return this.#offers(peers, owner, isUsable)[0]?.ref
  }

  /**
   * Whether peers that do not offer the snapshot that is taken, which may be a liar's alone, offer another one, for which at least half as
   * much speaks.
   */
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

  /** Notes that a snapshot was taken: what came to nothing before is forgotten. */
  succeeded(): void {
    this.#failures = new LruMap(FAILED_MAX)
  }

  /** Notes that what these peers offered was not taken. */
  failed(offerers: readonly PeerId[]): void {
    for (const name of new Set(offerers.map(this.#nameOf)))
      this.#failures.set(name, Math.min(FAILURES_MAX, (this.#failures.get(name) ?? 0) + 1))
  }
}
