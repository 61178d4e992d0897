import type { TxId } from '../../../../consensus/primitives/ids.ts'
import type { Tab } from '../../../ledger/tab-records.ts'
import { dueHeight } from '../../../ledger/tab-records.ts'
import { ENTRY_RECEIPTS_MAX } from './claim-entries.ts'
import { TAB_MARGIN_BLOCKS } from './settings.ts'

/** A tab that a claim may be due for, as chain and store show it. */
export interface ClaimCandidate {
  readonly tabId: TxId
  /** On chain. */
  readonly tab: Pick<Tab, 'closesAt' | 'expiresAt' | 'closeDelay'>
  /** Charged and not claimed, in base units. */
  readonly unclaimed: bigint
  /** Receipts that are in no claim, and when the oldest of them was given. */
  readonly receipts: number
  readonly oldestAtMs: number
  readonly refundAsked: boolean
  /** What a claim of this tab alone cost when the tab was opened. */
  readonly openedFee: bigint
  /** Whether calls are under way. Their charges would be lost if the tab ended now. */
  readonly isBusy: boolean
}

/** What the decision depends on beside the tabs. */
export interface ClaimMoment {
  /** Height of the head. */
  readonly height: number
  readonly nowMs: number
  /** What a claim of so many entries costs now. */
  readonly fee: (entries: number) => bigint
  /** The most that may be unclaimed on one tab before it takes no more calls; null if there is no such bound. */
  readonly riskLimit: bigint | null
}

/** A tab to claim now. */
export interface ClaimOrder {
  readonly tabId: TxId
  /** Whether the claim is to end the tab. */
  readonly close: boolean
}

/** A refund that does not bring its fee is made while a claim costs no more than this many times as much as when the tab was opened. */
const CLOSE_FEE_TIMES = 2n
/** A tab that is worth this many times its share of the fee is claimed soon, any other late. */
const FEES_WORTH = 100n
/** From this age of its first unclaimed call on a tab is claimed soon. */
export const AGE_SOON_MS = 10 * 60_000
const AGE_LATE_MS = 6 * 3_600_000

/**
 * The tabs that are to be claimed now, the most pressing first. A claim that would not earn its fee is left out: its value goes to the
 * payer at the end. Only a payer that asked for its refund gets it all the same, as long as opening the tab has cost it about as much: asking
 * is free, so refunds of tabs that were opened in quiet blocks wait while blocks are full.
 */
export function claimsDue(candidates: readonly ClaimCandidate[], moment: ClaimMoment): readonly ClaimOrder[] {
  const open = candidates.filter(({ tab }) => moment.height + 1 < dueHeight(tab))
  const ready = open.filter((one) => isNew(one) && one.unclaimed >= moment.fee(entriesOf(one)) && isReady(one, moment))
  const worth = worthFrom(ready, moment)
  const due = new Set(ready.filter((one) => isUrgent(one, moment) || worthOf(one) >= worth || isAged(one, moment)))
  return open
    .filter((one) => mayClose(one, moment) || due.has(one))
    .sort((a, b) => place(a, moment) - place(b, moment) || larger(a.unclaimed, b.unclaimed))
    .map((one) => ({ tabId: one.tabId, close: mayClose(one, moment) }))
}

function isNew({ receipts }: ClaimCandidate): boolean {
  return receipts > 0
}

function mayClose(one: ClaimCandidate, { fee }: ClaimMoment): boolean {
  const { refundAsked, isBusy, unclaimed, openedFee } = one
  return refundAsked && !isBusy && (unclaimed >= fee(entriesOf(one)) || fee(1) <= CLOSE_FEE_TIMES * openedFee)
}

/** Entries that a claim of the tab takes at least. */
function entriesOf({ receipts }: ClaimCandidate): number {
  return Math.max(1, Math.ceil(receipts / ENTRY_RECEIPTS_MAX))
}

/** What one entry of the tab brings. */
function worthOf(one: ClaimCandidate): bigint {
  return one.unclaimed / BigInt(entriesOf(one))
}

/** The least value at which the tabs above it, claimed together, are each worth a hundred times their share of the fee. */
function worthFrom(ready: readonly ClaimCandidate[], { fee }: ClaimMoment): bigint {
  const values = ready.map(worthOf).sort(larger)
  const together = values.findLastIndex((value, i) => value * BigInt(i + 1) >= FEES_WORTH * fee(i + 1))
  return values[together] ?? FEES_WORTH * fee(1)
}

/**
 * A seller loses nothing by waiting: a payer that closes gives it the close delay. So a tab is claimed some minutes after its first
 * unclaimed call, together with the calls since then, and much later if that is worth little beside the fee. A hundred fees alone would
 * not do as a trigger: one call of two cents is worth as much, and a busy tab would be claimed in every block. Nor would the minutes
 * alone: while blocks are full, sellers that do not wait bid up the fee until it eats what they claim (docs/scale.md).
 */
function isReady(one: ClaimCandidate, moment: ClaimMoment): boolean {
  return isUrgent(one, moment) || moment.nowMs - one.oldestAtMs >= AGE_SOON_MS
}

function isUrgent({ tab, unclaimed }: ClaimCandidate, { height, riskLimit }: ClaimMoment): boolean {
  if (tab.closesAt !== 0 || dueHeight(tab) - height <= TAB_MARGIN_BLOCKS) return true
  // Three quarters: the last quarter serves calls while the claim waits to be mined.
  return riskLimit !== null && unclaimed * 4n >= riskLimit * 3n
}

/** Whether a tab that is ready has waited long enough, whatever it is worth. */
function isAged({ oldestAtMs }: ClaimCandidate, { nowMs }: ClaimMoment): boolean {
  return nowMs - oldestAtMs >= AGE_LATE_MS
}

/** Tabs that end soon come first, the soonest at the front; all others have one place. */
function place({ tab }: ClaimCandidate, { height }: ClaimMoment): number {
  const left = dueHeight(tab) - height
  return tab.closesAt !== 0 || left <= TAB_MARGIN_BLOCKS ? left : Number.MAX_SAFE_INTEGER
}

function larger(a: bigint, b: bigint): number {
  return a === b ? 0 : a > b ? -1 : 1
}

/** Part of the value at stake that fees may cost while there is time, and once half of the close delay is over. */
const PART_CALM = 10n
const PART_PRESSING = 4n

/**
 * The most that fees of a claim may cost for one of its entries. There is no other bound on how far the bid rises, so that an
 * attacker who fills the blocks of a close delay has to outbid a quarter of all that the claim is worth.
 */
export function feeBudget(
  tab: Pick<Tab, 'closesAt' | 'expiresAt' | 'closeDelay'>,
  unclaimed: bigint,
  height: number,
): bigint {
  const isPressing = (dueHeight(tab) - height) * 2 <= tab.closeDelay
  return unclaimed / (isPressing ? PART_PRESSING : PART_CALM)
}
