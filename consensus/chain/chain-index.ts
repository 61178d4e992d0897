import type { StateChange } from '../state/view.ts'
import type { ConnectedBlock } from './events.ts'

/** One entry of an index. */
export interface IndexEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** One write of an index; without a value the entry is deleted. */
export interface IndexWrite {
  readonly key: Uint8Array
  readonly value?: Uint8Array
}

/** Reads the index's own entries as they were before the writes that are being worked out. */
export type IndexRead = (key: Uint8Array) => Uint8Array | undefined

interface NamedIndex {
  /** Unique among indexes, and another one wherever an entry changes its form: stores are told apart by it. */
  readonly name: string
  /** One byte, unique among indexes. */
  readonly prefix: number
}

/** An index whose keys are unique to their block: a block's entries are taken back by computing them again. */
export interface BlockIndex extends NamedIndex {
  readonly entriesOf: (connected: ConnectedBlock) => readonly IndexEntry[]
}

/**
 * An index that is a function of the state alone. Given changes it says what they do to it; given the same changes the
 * other way round it says what takes that back, so nothing has to be remembered.
 */
export interface StateIndex extends NamedIndex {
  readonly changesOf: (changes: readonly StateChange[], read: IndexRead) => readonly IndexWrite[]
}

/** An index whose entries grow with many blocks: what a block's writes replaced is remembered for as long as it can leave. */
export interface FoldedIndex extends NamedIndex {
  readonly fold: (connected: ConnectedBlock, read: IndexRead) => readonly IndexWrite[]
}

/**
 * A lookup derived from the best chain, outside the state root. It is kept in the block's own atomic batch and taken back
 * exactly when the block leaves; genesis is the first block that it sees. Writes of one call name a key once.
 */
export type ChainIndex = BlockIndex | StateIndex | FoldedIndex
