import type { Block } from '../block/block.ts'
import type { Receipt } from '../ledger/receipt.ts'
import type { BlockEntry } from './layout.ts'

/** A block on the best chain with what it did. */
export interface ConnectedBlock {
  readonly block: Block
  readonly receipts: readonly Receipt[]
}

/** The best chain moved: blocks that left it, newest first, then blocks that joined it, oldest first. */
export interface HeadChange {
  readonly head: BlockEntry
  readonly disconnected: readonly Block[]
  readonly connected: readonly ConnectedBlock[]
}

/** Called after a change is durable, in order of subscription. A listener must not throw. */
export type HeadListener = (change: HeadChange) => void
