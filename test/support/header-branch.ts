import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import { type Header, type SealedHeader, sealHeader } from '../../consensus/block/header.ts'
import { childTarget, extendTip, type HeaderTip } from '../../consensus/block/header-tip.ts'
import { historyRoot } from '../../consensus/block/history.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'

/** A child of a header that passes every check but that of its work. It has no block. */
export function childHeader(ruleBook: RuleBook, tip: HeaderTip, change: Partial<Header> = {}): SealedHeader {
  const rules = ruleBook.at(tip.header.height + 1).block
  return sealHeader({
    ...tip.header,
    height: tip.header.height + 1,
    parent: tip.id,
    timeMs: tip.header.timeMs + rules.spacingMs,
    target: childTarget(ruleBook, tip),
    historyRoot: historyRoot(tip.peaks, tip.header.height + 1),
    baseFee: baseFeeAfter(tip.header, rules),
    ...change,
  })
}

/** A branch of `count` headers without blocks, oldest first. */
export function headerBranch(
  ruleBook: RuleBook,
  from: HeaderTip,
  count: number,
  change: Partial<Header> = {},
): readonly HeaderTip[] {
  const branch: HeaderTip[] = []
  let tip = from
  for (let i = 0; i < count; i++) {
    const next = extendTip(ruleBook, tip, childHeader(ruleBook, tip, change))
    if (!next.ok) throw new Error(next.fault.code)
    tip = next.value
    branch.push(tip)
  }
  return branch
}
