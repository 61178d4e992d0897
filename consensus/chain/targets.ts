import { type Anchor, anchorAfter, anchorAtStep, targetAfter } from '../block/difficulty.ts'
import type { Header } from '../block/header.ts'
import type { RuleBook } from './rule-book.ts'

/** The end of a branch, as far as targets hang on it. */
interface Tip {
  readonly header: Header
  /** Anchor that its children find, rule steps aside. */
  readonly anchor: Anchor | null
}

/** Target that a child of the tip must carry. */
export function childTarget(ruleBook: RuleBook, tip: Tip): bigint {
  return targetAfter(anchorOfChild(ruleBook, tip), tip.header, ruleBook.at(tip.header.height + 1).block)
}

/** Anchor for the children of `child`, which stands on the tip. */
export function childAnchor(ruleBook: RuleBook, tip: Tip, child: Header): Anchor {
  return anchorAfter(anchorOfChild(ruleBook, tip), tip.header, child, ruleBook.at(child.height).block)
}

/** Worked out with the child, not stored with the tip: a tip may have been stored before its release knew of the step. */
function anchorOfChild(ruleBook: RuleBook, { anchor, header }: Tip): Anchor | null {
  const height = header.height + 1
  const ended = ruleBook.endedAt(height)
  if (ended === null) return anchor
  return anchorAtStep(anchor, header, { ended: ended.block, rules: ruleBook.at(height).block })
}
