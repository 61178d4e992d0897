import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { type TabEnd, tabLife } from '../ledger/tab-lives.ts'
import { dueHeight, lockedIn, TABS, type Tab } from '../ledger/tab-records.ts'

/** The public part of a tab: what the chain records about it. */
export interface TabFacts {
  readonly tabId: TxId
  /** Its record; after its end, the last one. */
  readonly tab: Tab
  /** Height at whose beginning consensus ends it; null if it has ended. */
  readonly dueAt: number | null
  /** What its payer would get back now; 0 if it has ended. */
  readonly locked: bigint
  /** Null on a node that began after its opening. */
  readonly sums: TabSums | null
  /** Null while it is open. */
  readonly end: TabEnd | null
}

/** What mined claims of a tab add up to. `paid` went to the payout; `calls` count as proven; `failed` is the seller's word. */
export interface TabSums {
  readonly opening: bigint
  readonly paid: bigint
  readonly burned: bigint
  readonly calls: number
  readonly failed: number
  readonly claims: number
}

/** A tab, open or ended; undefined if this node knows of none (see {@link tabGap}). */
export function tabFacts({ database }: Pick<ChainReader, 'database'>, tabId: TxId): TabFacts | undefined {
  const open = database.get(TABS, tabId)
  const life = tabLife(database, tabId)
  const tab = open ?? life?.tab
  if (tab === undefined) return undefined
  const known = life !== undefined && tab.openedAt >= database.indexedFrom
  return {
    tabId,
    tab,
    dueAt: open === undefined ? null : dueHeight(open),
    locked: open === undefined ? 0n : lockedIn(open),
    sums: known ? sumsOf(life) : null,
    end: open === undefined ? (life?.end ?? null) : null,
  }
}

function sumsOf({ tab, opening, burned, calls, failed, claims }: NonNullable<ReturnType<typeof tabLife>>): TabSums {
  return { opening, paid: tab.claimed - burned, burned, calls, failed, claims }
}

/** Why this node cannot know whether there was such a tab; null if it can. */
export function tabGap({ database }: Pick<ChainReader, 'database'>): Fault | null {
  const from = database.indexedFrom
  return from === 0 ? null : fault('storage/past-unknown', { from })
}
