import type { Block } from '../block/block.ts'
import type { Receipt } from '../ledger/receipt.ts'
import type { StateChange, StateView } from '../state/view.ts'
import type { BlockEntry } from './layout.ts'
import type { Rules } from './params.ts'
import type { Pacer } from './ports.ts'

/** A block on the best chain with its effects. */
export interface ConnectedBlock {
  readonly block: Block
  readonly receipts: readonly Receipt[]
  /** State records that the block changed, before and after, in key order. */
  readonly changes: readonly StateChange[]
  /** The state before the block; empty for genesis. */
  readonly parentState: StateView
  /** Those of its height. */
  readonly rules: Rules
}

/**
 * Blocks that left the best chain, newest first, and blocks that joined it, oldest first. When a snapshot is adopted,
 * its block is the only one in `connected`. A move that was undone because a block of the new branch failed is told
 * too, since readers may have seen the states in between. The head is then the old one, and the same blocks have left
 * and joined.
 */
export interface HeadChange {
  readonly head: BlockEntry
  readonly disconnected: readonly BlockEntry[]
  readonly connected: readonly BlockEntry[]
}

/** Called when a move is complete and durable, in order of subscription. A listener must not throw. */
export type HeadListener = (change: HeadChange) => void

/**
 * Prepares for a move that is not the import of one block on the head, before any listener hears of it. It works in
 * slices, since a deep move leaves much to do. An error stops the chain.
 */
export type HeadFollower = (change: HeadChange, pacer: Pacer) => Promise<void>
