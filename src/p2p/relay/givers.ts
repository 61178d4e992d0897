import type { SealedHeader } from '../../../consensus/block/header.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import { type FetchDependencies, remind } from './body-fetch.ts'

/** Peers of which it is remembered how often they gave nothing. */
const REMEMBERED = 1_024
/** By then an honest peer of any release has a block that it told of, even if it was deceived itself. */
const REMIND_MS = 60_000

/** What the givers work with. */
export interface GiversDependencies extends FetchDependencies {
  /** Whether a block is stored here and good as far as is known. */
  readonly isGood: (id: BlockId) => boolean
}

/** Peers as givers of the blocks that they tell of: who is asked first, and who is to blame for never giving any. */
export class Givers {
  readonly #deps: GiversDependencies
  readonly #inVain = new LruMap<PeerId, number>(REMEMBERED)
  /** Peers that are asked again later, and how that is called off. */
  readonly #reminders = new Map<PeerId, () => void>()

  constructor(dependencies: GiversDependencies) {
    this.#deps = dependencies
  }

  /** How often a peer was asked in vain since it last gave something. */
  inVain(peer: PeerId): number {
    return this.#inVain.get(peer) ?? 0
  }

  gave(peer: PeerId): void {
    this.#inVain.delete(peer)
  }

  /** Notes that a peer was not waited for any longer: the line may be slow, ours as well, so nothing more is made of it. */
  gaveLate(peer: PeerId): void {
    this.#inVain.set(peer, this.inVain(peer) + 1)
  }

  /** Notes that a peer did not give a block that it told of; if the block turns out good, it is asked once more: one at a time. */
  gaveNothing(peer: PeerId, header: SealedHeader): void {
    this.gaveLate(peer)
    if (this.#reminders.has(peer)) return
    const { timers, peers, isGood } = this.#deps
    const cancel = timers.after(REMIND_MS, () => {
      this.#reminders.delete(peer)
      if (isGood(header.id) && peers.isReady(peer)) void remind(this.#deps, peer, header)
    })
    this.#reminders.set(peer, cancel)
  }

  stop(): void {
    for (const cancel of this.#reminders.values()) cancel()
    this.#reminders.clear()
  }
}
