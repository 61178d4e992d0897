import { type Block, bodySize } from '../block/block.ts'
import { workOfTarget } from '../block/pow.ts'
import type { BlockEntry } from './layout.ts'
import type { RuleBook } from './rule-book.ts'
import { childAnchor } from './targets.ts'

/** What is kept of a block on a known parent, as long as nothing is wrong with it. */
export function entryOf(block: Block, parent: BlockEntry, ruleBook: RuleBook): BlockEntry {
  return {
    header: block.header,
    bytes: block.bytes,
    id: block.id,
    totalWork: parent.totalWork + workOfTarget(block.header.target),
    totalTransactions: parent.totalTransactions + block.transactions.length,
    bodyBytes: bodySize(block.transactions),
    anchor: childAnchor(ruleBook, parent, block.header),
    invalid: false,
  }
}
