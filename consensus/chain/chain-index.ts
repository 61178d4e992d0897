import type { StateChange } from '../state/view.ts'
import type { ConnectedBlock } from './events.ts'

/** One entry of an index. */
export interface IndexEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** Without a value the entry is deleted. */
export interface IndexWrite {
  readonly key: Uint8Array
  readonly value?: Uint8Array
}

/** Reads entries of the index as they were before the writes being computed. */
export type IndexRead = (key: Uint8Array) => Uint8Array | undefined

interface NamedIndex {
  /**
   * Unique among indexes. It must change when the format of an entry changes: a store that names other indexes is
   * refused until they are rebuilt.
   */
  readonly name: string
  /** One byte, unique among indexes. */
  readonly prefix: number
}

/** An index whose keys are unique to their block. When the block leaves, its entries are computed again and deleted. */
export interface BlockIndex extends NamedIndex {
  readonly entriesOf: (connected: ConnectedBlock) => readonly IndexEntry[]
}

/** An index that follows from the state alone. To undo a block, it gets the changes with before and after swapped. */
export interface StateIndex extends NamedIndex {
  readonly changesOf: (changes: readonly StateChange[], read: IndexRead) => readonly IndexWrite[]
}

/** An index whose entries sum up many blocks. What a block overwrote is kept while the block can be unwound. */
export interface FoldedIndex extends NamedIndex {
  readonly fold: (connected: ConnectedBlock, read: IndexRead) => readonly IndexWrite[]
}

/**
 * A lookup derived from the best chain, outside the state root. It is written in the block's own atomic batch. Genesis
 * is its first block. The writes of one call name each key once.
 */
export type ChainIndex = BlockIndex | StateIndex | FoldedIndex
