import type { ConnectedBlock } from './events.ts'

/** One entry of an index: written when its block joins the best chain, deleted when the block leaves it. */
export interface IndexEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/**
 * A lookup derived from the best chain's blocks, outside the state root. It is kept in the block's own atomic batch, and
 * its keys must be unique to their block, so that a block's entries can be taken back by computing them again.
 */
export interface ChainIndex {
  readonly name: string
  /** Unique among indexes. */
  readonly prefix: number
  readonly entriesOf: (connected: ConnectedBlock) => readonly IndexEntry[]
}
