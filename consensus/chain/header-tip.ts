import { checkHeader } from '../block/check.ts'
import type { Anchor } from '../block/difficulty.ts'
import type { SealedHeader } from '../block/header.ts'
import { appendLeaf, type HistoryPeak, historyLeaf, historyRoot } from '../block/history.ts'
import { workOfTarget } from '../block/pow.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import type { BlockEntry } from './layout.ts'
import type { RuleBook } from './rule-book.ts'
import { childAnchor, childTarget } from './targets.ts'

/** The end of a chain of headers, with all that the next one is checked against: no block is needed for that. */
export interface HeaderTip extends SealedHeader {
  /** Work up to and with this header, as it claims. */
  readonly totalWork: bigint
  readonly anchor: Anchor | null
  /** Peaks of the history tree with this header as its last leaf. */
  readonly peaks: readonly HistoryPeak[]
}

/** What a stored block's children are checked against. */
export function headerTipOf(
  database: { peaksThrough(entry: BlockEntry): readonly HistoryPeak[] },
  entry: BlockEntry,
): HeaderTip {
  return { ...entry, peaks: database.peaksThrough(entry) }
}

/**
 * The tip with one more header, if that is what it must be: every check but the clock and the proof of work. Faults are
 * those of {@link checkHeader}, and `chain/unknown-parent`'s place is the caller's: the header must name the tip.
 */
export function extendTip(ruleBook: RuleBook, tip: HeaderTip, next: SealedHeader): Result<HeaderTip> {
  const rules = ruleBook.at(tip.header.height + 1).block
  const target = childTarget(ruleBook, tip)
  const root = historyRoot(tip.peaks, tip.header.height + 1)
  const wrong = checkHeader(next, { parent: tip.header, target, historyRoot: root }, rules)
  if (wrong !== null) return fail(wrong)
  return ok({
    ...next,
    totalWork: tip.totalWork + workOfTarget(next.header.target),
    anchor: childAnchor(ruleBook, tip, next.header),
    peaks: appendLeaf(tip.peaks, historyLeaf(next), next.header.height).peaks,
  })
}
