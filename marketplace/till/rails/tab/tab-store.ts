import type { Amount } from '../../../../consensus/primitives/amount.ts'
import type { FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import type { Hash, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import type { SharedClaims, StoredClaim } from '../../claim-store.ts'
import type { SeqWindow } from './seq-window.ts'
import type { AnsweredTabCall, HeldVoucher, SignedTabReceipt } from './tab-call.ts'

/** A tab as its seller keeps it, or a channel of an EVM network. What the chain has of it is not repeated here. */
export interface TabRow {
  /** That of a channel begins with 0x: see {@link isTab}. */
  readonly tabId: TxId
  /** Sum of the charges of all answered calls. It never falls. */
  readonly charged: Amount
  /** Sum of the prices of the calls under way. After a start it is 0 where the store is not shared. */
  readonly reserved: Amount
  /** Receipts given: the `n` of the last one. */
  readonly receipts: number
  /** How many of them are for calls that were charged nothing, mostly because they failed. */
  readonly uncharged: number
  readonly window: SeqWindow
  /** Highest number of a call that was ever taken; 0 before the first. */
  readonly seqMax: number
  /** The voucher with the highest ceiling, of calls under way too. `charged` + `reserved` never exceeds that ceiling. */
  readonly voucher: HeldVoucher | null
  readonly lastReceipt: SignedTabReceipt | null
  /** When the payer asked for a claim that closes the tab; null if it has not. Then no more calls are taken. */
  readonly refundAskedAtMs: number | null
  /** `n` of a receipt that a client has and this store lost. No calls are taken until claims on chain reach it. */
  readonly lostReceipt: number | null
  /** Receipts up to this `n` are in claims that are final. */
  readonly finalReceipts: number
  /** When the end of the tab was final on chain; null before that. Its rows are deleted some time later. */
  readonly endedAtMs: number | null
}

/** Whether a row of the store is of a tab on the own chain. Other rows are of channels on EVM networks. */
export function isTab({ tabId }: Pick<TabRow, 'tabId'>): boolean {
  return !tabId.startsWith('0x')
}

interface TabCallBase extends StoredClaim {
  readonly tabId: TxId
  readonly seq: number
  readonly serviceId: ServiceId
  readonly requestHash: Hash
  /** Address of the payer in hex. */
  readonly caller: string
  /** The voucher of the call. A call with the same number and another voucher is another call. */
  readonly voucher: HeldVoucher
  /** The most that is charged, in base units, and its value in millionths of a dollar. */
  readonly price: string
  readonly priceUsdMicros: string
}

/** A call under way. */
export interface ReservedTabCall extends TabCallBase {
  readonly state: 'claimed' | 'executing'
  readonly request: string
  readonly startedAtMs?: number
  readonly runs?: number
  /** Whether the work may be done twice. If not, the call is on disk before its work begins. */
  readonly isRepeatable: boolean
}

/** How the work of a call ended, before it has its receipt. */
export interface EndedTabCall {
  readonly call: ReservedTabCall
  /** From 0 to the price of the call. */
  readonly charge: Amount
  /** JSON text; null after a failure. */
  readonly result: string | null
  readonly resultHash: Hash
  readonly reason: FaultCode | null
  readonly message: string | null
  readonly finishedAtMs: number
}

/** A call with its receipt. */
export type AnsweredTabRow = AnsweredTabCall & TabCallBase

/** A call on a tab in the store. */
export type TabCallRow = ReservedTabCall | AnsweredTabRow

/** Whether a call has its receipt. */
export function isAnswered(row: TabCallRow): row is AnsweredTabRow {
  return row.state === 'delivered' || row.state === 'failed'
}

/** Makes tab and answer of a call that ended: gives the receipt its `n` and signs it. Called while the store holds the tab. */
export type SealCall = (tab: TabRow, ended: EndedTabCall) => { readonly tab: TabRow; readonly answered: AnsweredTabRow }

/** What a reservation is held against. */
export interface ReserveBounds {
  /** `charged` + `reserved` + price must not exceed this: the deposit, or what may be risked on it so far. */
  readonly most: Amount
  /** What claims on chain have of the tab. A store that lost its rows goes on from there. */
  readonly claimed: Amount
  readonly receipts: number
}

/** What became of a reservation; `known` is the call that has its number, `refused`: it is above a bound, or out of the window. */
export type Reservation =
  | { readonly is: 'held' }
  | { readonly is: 'known'; readonly call: TabCallRow }
  | { readonly is: 'refused' }

/** One tab in a claim transaction. */
export interface ClaimedTab {
  readonly tabId: TxId
  /** Totals that the tab has after the claim. */
  readonly claimed: Amount
  readonly receipts: number
  readonly root: Hash
  readonly close: boolean
}

/** A claim transaction, written before it is sent, and kept until it is final or given up. */
export interface TabClaimRow {
  readonly txId: TxId
  readonly entries: readonly ClaimedTab[]
  /** The signed transaction in hex, to be sent again as it is. */
  readonly transaction: string
  readonly madeAtMs: number
}

/** What is noted of a tab besides its calls. */
export type TabMark = Partial<Pick<TabRow, 'refundAskedAtMs' | 'lostReceipt' | 'finalReceipts' | 'endedAtMs'>>

/**
 * Where the calls of tabs are kept: one row per tab, one per (tabId, seq), over all replicas of an operator. A write is on disk before
 * its promise resolves, except {@link TabStore.reserve}, {@link TabStore.begin} of repeatable work and {@link TabStore.prune}. A shared store
 * throws `ClaimsAway` when it cannot be reached.
 */
export interface TabStore {
  /** Absent if the store is not shared. */
  readonly shared?: SharedClaims
  /** The row of a tab as it is on disk. Only this may be shown to a client. */
  tab(tabId: TxId): Promise<TabRow | undefined>
  /**
   * The row of a tab as this process knows it, once {@link TabStore.call} asked for a call of it. It is ahead of the disk by the calls under
   * way, and by those that are being written.
   */
  peek(tabId: TxId): TabRow | undefined
  /** With its result. Undefined if the number was never taken, or its row was deleted. */
  call(tabId: TxId, seq: number): Promise<TabCallRow | undefined>

  /**
   * Holds the number and the price of a call if the number is free, and neither `most` nor the highest ceiling of the tab, that of the
   * call included, is exceeded. Atomic.
   */
  reserve(call: ReservedTabCall, bounds: ReserveBounds): Promise<Reservation>
  /** Notes that the work begins. False if the call is not reserved any more, or is with another replica. */
  begin(call: ReservedTabCall): Promise<boolean>
  /** Calls under way of this replica, and those of dead replicas, which it takes over. */
  open(): Promise<readonly ReservedTabCall[]>
  /**
   * Writes the ends of calls in one durable step, each with its voucher, row, tab, receipt and result. `seal` is called for one call after
   * the other, so that receipts have no holes. The answers, in the order of `ended`; a call that was answered before keeps that answer. Null:
   * the call is not this replica's any more, and has no answer yet.
   */
  commit(ended: readonly EndedTabCall[], seal: SealCall): Promise<readonly (AnsweredTabRow | null)[]>

  /** Receipts of a tab in the order of `n`, beginning with the given one, at most `limit`. */
  receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]>
  /** Notes something of a tab, and makes its row if there is none. */
  mark(tabId: TxId, mark: TabMark): Promise<void>
  /** Tabs that a claim may be due for: with receipts above `finalReceipts`, or whose payer asked for a refund; none that has ended. */
  unclaimed(): Promise<readonly TabRow[]>

  putClaim(claim: TabClaimRow): Promise<void>
  /** Oldest first. */
  claims(): Promise<readonly TabClaimRow[]>
  dropClaim(txId: TxId): Promise<void>

  /**
   * Deletes results that ended before `beforeMs` and whose receipts are final or whose tab has ended, then those that `beyondBytes` names;
   * and everything of tabs that ended before `beforeMs`. Returns the number of results.
   */
  prune(beforeMs: number, bytesMax: number): Promise<number>
}

/** Name of a call, also in answers: `<tabId>:<seq>`. */
export function callIdOf({ tabId, seq }: { readonly tabId: TxId; readonly seq: number }): string {
  return `${tabId}:${seq}`
}
