import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import type { SnapshotRef } from '../wire/messages.ts'

/** Most peers whose denials are remembered, and most blocks of each. */
const NAMES_MAX = 1_024
const BLOCKS_MAX = 32

/** A block that peers are asked about. */
export type BlockRef = SnapshotRef

/** Blocks that peers denied having when asked about another branch. Showing such a block later proves the dispute baseless. */
export class Denials {
  readonly #nameOf: (id: PeerId) => string
  readonly #blocks = new LruMap<string, readonly BlockRef[]>(NAMES_MAX)

  /** `nameOf` gives the name of a peer, even after it is gone. */
  constructor(nameOf: (id: PeerId) => string) {
    this.#nameOf = nameOf
  }

  note(peer: PeerId, { id, height }: BlockRef): void {
    const name = this.#nameOf(peer)
    const before = (this.#blocks.get(name) ?? []).filter((other) => other.id !== id)
    this.#blocks.set(name, [...before, { id, height }].slice(-BLOCKS_MAX))
  }

  /** Whether a peer shows a block that it said it lacks. Its denials are forgotten then. */
  takeBack(id: PeerId, isShown: (block: BlockRef) => boolean): boolean {
    const name = this.#nameOf(id)
    if (this.#blocks.get(name)?.some(isShown) !== true) return false
    this.#blocks.delete(name)
    return true
  }
}
