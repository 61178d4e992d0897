import { amount } from '../../consensus/primitives/amount.ts'
import { readUintBE, uintLE } from '../../consensus/primitives/bytes.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { SEQ_WINDOW, type SeqWindow } from '../../marketplace/till/rails/tab/seq-window.ts'
import {
  type AnsweredTabRow,
  type EndedTabCall,
  isAnswered,
  type TabCallRow,
  type TabRow,
} from '../../marketplace/till/rails/tab/tab-store.ts'
import { callRowOf, callRowText, receiptFrom, receiptText, voucherFrom } from './tab-json.ts'

/** The row of a tab as the driver reads {@link TAB_COLUMNS}: numbers of more than 32 bits are texts. */
export interface TabColumns {
  readonly id: TxId
  readonly charged: string
  readonly reserved: string
  readonly receipts: string
  readonly uncharged: string
  readonly low: string
  readonly used: Buffer
  readonly seqMax: string
  readonly voucher: string | null
  readonly lastReceipt: string | null
  readonly refundAskedAt: string | null
  readonly lostReceipt: string | null
  readonly finalReceipts: string
  readonly endedAt: string | null
}

/** The columns of `tab` that make a {@link TabRow}. */
export const TAB_COLUMNS = `tab.id, tab.charged, tab.reserved, tab.receipts, tab.uncharged, tab.low, tab.used, tab.seq_max AS "seqMax",
  tab.voucher, tab.last_receipt AS "lastReceipt", tab.refund_asked_at AS "refundAskedAt",
  tab.lost_receipt AS "lostReceipt", tab.final_receipts AS "finalReceipts", tab.ended_at AS "endedAt"`

/** The row of a call as the driver reads it. */
export interface CallColumns {
  readonly body: string
  readonly result: string | null
}

/** Bytes of a window in the database. Bit 0 of their first byte stands for the lowest number that is not used. */
const WINDOW_BYTES = SEQ_WINDOW / 8

/** The row of a tab from its columns. */
export function tabOf(row: TabColumns): TabRow {
  const { id, voucher, lastReceipt } = row
  return {
    tabId: id,
    charged: amount(BigInt(row.charged)),
    reserved: amount(BigInt(row.reserved)),
    receipts: Number(row.receipts),
    uncharged: Number(row.uncharged),
    window: { low: Number(row.low), used: usedOf(row.used) },
    seqMax: Number(row.seqMax),
    voucher: voucher === null ? null : voucherFrom(voucher),
    lastReceipt: lastReceipt === null ? null : receiptFrom(lastReceipt),
    refundAskedAtMs: numberOf(row.refundAskedAt),
    lostReceipt: numberOf(row.lostReceipt),
    finalReceipts: Number(row.finalReceipts),
    endedAtMs: numberOf(row.endedAt),
  }
}

/** The call of a row, with its result. */
export function callOf({ body, result }: CallColumns): TabCallRow {
  const call = callRowOf<TabCallRow>(body)
  return isAnswered(call) ? { ...call, result } : call
}

/** Values of the columns `low` and `used` of a tab. */
export function windowValues({ low, used }: SeqWindow): readonly [number, Buffer] {
  return [low, Buffer.from(uintLE(used, WINDOW_BYTES))]
}

/** What a commit writes of tabs: one array for each column. */
export function tabArrays(tabs: readonly TabRow[]): readonly (readonly unknown[])[] {
  const columns: readonly ((tab: TabRow) => unknown)[] = [
    ({ tabId }) => tabId,
    ({ charged }) => charged.toString(),
    ({ reserved }) => reserved.toString(),
    ({ receipts }) => receipts,
    ({ uncharged }) => uncharged,
    ({ window }) => windowValues(window)[0],
    ({ window }) => windowValues(window)[1],
    ({ lastReceipt }) => lastReceipt && receiptText(lastReceipt),
  ]
  return columns.map((column) => tabs.map(column))
}

/** An ended call with its receipt. */
export interface SealedCall {
  readonly answered: AnsweredTabRow
  readonly ended: EndedTabCall
}

/** What a commit writes of calls: one array for each column. */
export function callArrays(calls: readonly SealedCall[]): readonly (readonly unknown[])[] {
  const columns: readonly ((call: SealedCall) => unknown)[] = [
    ({ answered }) => answered.tabId,
    ({ answered }) => answered.seq,
    ({ answered }) => callRowText(answered),
    ({ answered }) => answered.receipt.receipt.n,
    ({ ended }) => ended.finishedAtMs,
    ({ ended }) => (ended.result === null ? 0 : Buffer.byteLength(ended.result)),
    ({ ended }) => ended.result,
  ]
  return columns.map((column) => calls.map(column))
}

function usedOf(bytes: Uint8Array): bigint {
  return readUintBE(Uint8Array.from(bytes).reverse())
}

function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text)
}
