import type { TxId } from '../../consensus/primitives/ids.ts'
import type { ValueChange } from '../../consensus/state/overlay.ts'
import { dueHeight, TAB_DUES, TAB_TOTALS, TABS, type Tab, type TabTotals } from './tab-records.ts'

/** Fields that stay as the opening wrote them. */
const FROZEN = [
  'version',
  'agentId',
  'payer',
  'payout',
  'insider',
  'scheme',
  'voucherKey',
  'receiptKey',
  'openedAt',
  'expiresAt',
  'closeDelay',
] as const satisfies readonly (keyof Tab)[]

/**
 * The totals move as the tabs do, a tab's sums only rise and its other fields stay, and a tab is listed under its due
 * height, once. Conservation is checked apart.
 */
export function tabInvariant(changes: readonly ValueChange[]): string | null {
  let open = 0
  let locked = 0n
  let claimed = 0n
  const listed = new Map<string, number>()
  const count = (height: number | string, tabId: TxId, more: number): void => {
    const place = `${height} ${tabId}`
    listed.set(place, (listed.get(place) ?? 0) + more)
  }
  for (const { table, key, before, after } of changes) {
    if (table.name === TABS.name) {
      const [old, now] = [before, after] as [Tab | undefined, Tab | undefined]
      if (old !== undefined && now !== undefined && !isSuccessor(old, now)) return 'tab-record'
      if (now !== undefined && now.claimed > now.deposit) return 'tab-record'
      open += (now === undefined ? 0 : 1) - (old === undefined ? 0 : 1)
      locked += rest(now) - rest(old)
      const tabId = key.slice(2) as TxId
      if (now !== undefined) count(dueHeight(now), tabId, 1)
      if (old !== undefined) count(dueHeight(old), tabId, -1)
    } else if (table.name === TAB_TOTALS.name) {
      const [old, now] = [before, after] as [TabTotals | undefined, TabTotals | undefined]
      open -= (now?.open ?? 0) - (old?.open ?? 0)
      locked -= (now?.locked ?? 0n) - (old?.locked ?? 0n)
      claimed += (now?.claimed ?? 0n) - (old?.claimed ?? 0n)
      if (claimed < 0n || (now?.burned ?? 0n) < (old?.burned ?? 0n)) return 'tab-totals'
    } else if (table.name === TAB_DUES.name) {
      const height = Number.parseInt(key.slice(2), 16)
      compareDues(before as readonly TxId[] | undefined, after as readonly TxId[] | undefined, (tabId, more) => {
        count(height, tabId, more)
      })
    }
  }
  if (open !== 0 || locked !== 0n) return 'tab-totals'
  return [...listed.values()].every((times) => times === 0) ? null : 'tab-dues'
}

/**
 * Tells of each id that stands in one list alone: 1 for the old one, -1 for the new one. A list may hold thousands of ids while one
 * transaction moves one, so ids that stand in both cost a comparison and no more. Lists out of order only cost more.
 */
function compareDues(
  before: readonly TxId[] = [],
  after: readonly TxId[] = [],
  tell: (tabId: TxId, more: number) => void,
): void {
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]]
    if (old === now) {
      i += 1
      j += 1
    } else if (now === undefined || (old !== undefined && old < now)) {
      tell(old as TxId, 1)
      i += 1
    } else {
      tell(now, -1)
      j += 1
    }
  }
}

function rest(tab: Tab | undefined): bigint {
  return tab === undefined ? 0n : tab.deposit - tab.claimed
}

function isSuccessor(old: Tab, now: Tab): boolean {
  const rises = now.deposit >= old.deposit && now.claimed >= old.claimed && now.receipts >= old.receipts
  const closes = old.closesAt === 0 || now.closesAt === old.closesAt
  return rises && closes && FROZEN.every((field) => now[field] === old[field])
}
