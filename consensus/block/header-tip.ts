import { assert } from '../primitives/assert.ts'
import type { BlockId } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { checkHeader } from './check.ts'
import { type Anchor, anchorAfter, anchorAtStep, targetAfter } from './difficulty.ts'
import type { Header, SealedHeader } from './header.ts'
import { appendLeaf, type HistoryPeak, historyLeaf, historyRoot } from './history.ts'
import { workOfTarget } from './pow.ts'
import type { BlockRules } from './rules.ts'

interface HeaderRules {
  readonly at: (height: number) => { readonly block: BlockRules }
  readonly endedAt: (height: number) => { readonly block: BlockRules } | null
}

/** The last header of a chain, with all that is needed to check the next one. */
export interface HeaderTip extends SealedHeader {
  /** Sum of the work of all headers up to this one. */
  readonly totalWork: bigint
  readonly anchor: Anchor | null
  /** Peaks of the history tree with this header as the last leaf. */
  readonly peaks: readonly HistoryPeak[]
}

/** The tip that a stored block's children are checked against. */
export function headerTipOf<Entry extends Omit<HeaderTip, 'peaks'>>(
  database: { peaksThrough(entry: Entry): readonly HistoryPeak[] },
  entry: Entry,
): HeaderTip {
  return { ...entry, peaks: database.peaksThrough(entry) }
}

class Checked implements HeaderTip {
  /** Makes the type nominal: another object cannot pass for a checked header. */
  declare protected readonly checked: true
  readonly header: Header
  readonly bytes: Uint8Array
  readonly id: BlockId
  readonly totalWork: bigint
  readonly anchor: Anchor
  readonly peaks: readonly HistoryPeak[]

  constructor({ header, bytes, id }: SealedHeader, totalWork: bigint, anchor: Anchor, peaks: readonly HistoryPeak[]) {
    this.header = header
    this.bytes = bytes
    this.id = id
    this.totalWork = totalWork
    this.anchor = anchor
    this.peaks = peaks
    Object.freeze(this)
  }
}

/** A header that passed every check but those of clock and proof of work. Only {@link extendTip} makes one. */
export type CheckedTip = Checked

/** Faults are those of {@link checkHeader}. */
export function extendTip(ruleBook: HeaderRules, tip: HeaderTip, next: SealedHeader): Result<CheckedTip> {
  assert(next.header.parent === tip.id, 'a header extends the tip that it names as its parent')
  const rules = ruleBook.at(tip.header.height + 1).block
  const target = childTarget(ruleBook, tip)
  const root = historyRoot(tip.peaks, tip.header.height + 1)
  const wrong = checkHeader(next, { parent: tip.header, target, historyRoot: root }, rules)
  if (wrong !== null) return fail(wrong)
  const totalWork = tip.totalWork + workOfTarget(next.header.target)
  const { peaks } = appendLeaf(tip.peaks, historyLeaf(next), next.header.height)
  return ok(new Checked(next, totalWork, childAnchor(ruleBook, tip, next.header), peaks))
}

/** The end of a branch, as far as targets depend on it. */
interface Tip {
  readonly header: Header
  /** Anchor for its children, unless a rule step begins with them. */
  readonly anchor: Anchor | null
}

/** Target that a child of the tip must carry. */
export function childTarget(ruleBook: HeaderRules, tip: Tip): bigint {
  return targetAfter(anchorOfChild(ruleBook, tip), tip.header, ruleBook.at(tip.header.height + 1).block)
}

/** Anchor for the children of `child`, which is a child of the tip. */
export function childAnchor(ruleBook: HeaderRules, tip: Tip, child: Header): Anchor {
  return anchorAfter(anchorOfChild(ruleBook, tip), tip.header, child, ruleBook.at(child.height).block)
}

/** The anchor is computed for each child, since a release that did not know the rule step may have stored the tip. */
function anchorOfChild(ruleBook: HeaderRules, { anchor, header }: Tip): Anchor | null {
  const height = header.height + 1
  const ended = ruleBook.endedAt(height)
  if (ended === null) return anchor
  return anchorAtStep(anchor, header, { ended: ended.block, rules: ruleBook.at(height).block })
}
