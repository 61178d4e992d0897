import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { nameOf } from './candidates.ts'

/** Peers whose denials are known, and blocks of each. */
const NAMES_MAX = 1_024
const BLOCKS_MAX = 32

/**
 * Blocks that peers said they lack, when they were asked about the branch of another one. A peer that then shows such a block on its own
 * branch disputed that one for nothing.
 */
export class Denials {
  readonly #peers: Pick<Peers, 'get'>
  readonly #blocks = new LruMap<string, readonly BlockId[]>(NAMES_MAX)

  constructor(peers: Pick<Peers, 'get'>) {
    this.#peers = peers
  }

  /** A peer says that it lacks a block. */
  note(id: PeerId, block: BlockId): void {
    const name = this.#nameOf(id)
    const before = (this.#blocks.get(name) ?? []).filter((other) => other !== block)
    this.#blocks.set(name, [...before, block].slice(-BLOCKS_MAX))
  }

  /** Whether a peer that shows these headers said that it lacks one of them. That is forgotten then. */
  takeBack(id: PeerId, shown: readonly { readonly id: BlockId }[]): boolean {
    const name = this.#nameOf(id)
    const denied = this.#blocks.get(name)
    if (denied === undefined || !shown.some((header) => denied.includes(header.id))) return false
    this.#blocks.delete(name)
    return true
  }

  #nameOf(id: PeerId): string {
    const peer = this.#peers.get(id)
    return peer === undefined ? id : nameOf(peer)
  }
}
