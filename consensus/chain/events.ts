import type { Block } from '../block/block.ts'
import type { Receipt } from '../ledger/receipt.ts'
import type { StateChange, StateView } from '../state/view.ts'
import type { BlockEntry } from './layout.ts'
import type { Pacer } from './ports.ts'

/** A block on the best chain with what it did. */
export interface ConnectedBlock {
  readonly block: Block
  readonly receipts: readonly Receipt[]
  /** State records that it changed, with what they were and what they became, in the order of their keys. */
  readonly changes: readonly StateChange[]
  /** The state that it was executed on; empty for genesis. */
  readonly parentState: StateView
}

/**
 * The best chain moved: blocks that left it, newest first, then blocks that joined it, oldest first. Named, not held: a deep
 * move is as small as a shallow one, and whoever needs a body reads it from the database.
 *
 * A move that was taken back, because a block of the new branch was invalid, is told as well, since passing states were shown
 * meanwhile: the head is then the one before, and the same blocks have left and joined again.
 */
export interface HeadChange {
  readonly head: BlockEntry
  readonly disconnected: readonly BlockEntry[]
  readonly connected: readonly BlockEntry[]
}

/** Called after a move is complete and durable, in order of subscription. A listener must not throw. */
export type HeadListener = (change: HeadChange) => void

/**
 * Makes ready for a move that left blocks behind, before any listener hears of it, in slices: a deep move leaves much to do.
 * Until it is ready the head counts as a passing one, so that nobody sees what is half made ready. An error stops the chain.
 */
export type HeadFollower = (change: HeadChange, pacer: Pacer) => Promise<void>
