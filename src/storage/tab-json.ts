import { type Amount, amount } from '../../consensus/primitives/amount.ts'
import type { TabReceipt } from '../../consensus/tx/tab-messages.ts'
import type { HeldVoucher, SignedTabReceipt } from '../../marketplace/till/rails/tab/tab-call.ts'
import {
  type ClaimedTab,
  isAnswered,
  type TabCallRow,
  type TabClaimRow,
  type TabRow,
} from '../../marketplace/till/rails/tab/tab-store.ts'

/** A value as it stands in JSON: big integers are decimal texts. */
type Json<T> = T extends bigint
  ? string
  : T extends readonly (infer I)[]
    ? readonly Json<I>[]
    : T extends object
      ? { readonly [K in keyof T]: Json<T[K]> }
      : T

/** JSON text of a tab's row. */
export function tabRowText(row: TabRow): string {
  const { charged, reserved, window, voucher, lastReceipt } = row
  const json: Json<TabRow> = {
    ...row,
    charged: `${charged}` as never,
    reserved: `${reserved}` as never,
    window: { low: window.low, used: window.used.toString() },
    voucher: (voucher && voucherJson(voucher)) as never,
    lastReceipt: (lastReceipt && receiptJson(lastReceipt)) as never,
  }
  return JSON.stringify(json)
}

/** The row of a tab from its JSON text. Nothing is reserved on disk. */
export function tabRowOf(text: string): TabRow {
  const { charged, reserved, window, voucher, lastReceipt, ...rest } = JSON.parse(text)
  return {
    // Older releases wrote rows without it.
    uncharged: 0,
    ...rest,
    charged: units(charged),
    reserved: units(reserved),
    window: { low: window.low, used: BigInt(window.used) },
    voucher: voucher && voucherOf(voucher),
    lastReceipt: lastReceipt && receiptOf(lastReceipt),
  }
}

/** JSON text of a call, without its result. */
export function callRowText(row: TabCallRow): string {
  const voucher = voucherJson(row.voucher)
  return isAnswered(row)
    ? JSON.stringify({ ...row, voucher, receipt: receiptJson(row.receipt), result: null })
    : JSON.stringify({ ...row, voucher })
}

/** A call from its JSON text, without its result. */
export function callRowOf<C extends TabCallRow>(text: string): C {
  const row = JSON.parse(text)
  const voucher = voucherOf(row.voucher)
  return row.receipt === undefined ? { ...row, voucher } : { ...row, voucher, receipt: receiptOf(row.receipt) }
}

/** What was charged for a call, in millionths of a dollar. */
export function paidMicros(
  { price, priceUsdMicros }: Pick<TabCallRow, 'price' | 'priceUsdMicros'>,
  charged: bigint,
): bigint {
  return price === '0' ? 0n : (BigInt(priceUsdMicros) * charged) / BigInt(price)
}

/** JSON text of a claim. */
export function claimRowText(claim: TabClaimRow): string {
  const entries = claim.entries.map((entry) => ({ ...entry, claimed: `${entry.claimed}` }))
  return JSON.stringify({ ...claim, entries })
}

/** A claim from its JSON text. */
export function claimRowOf(text: string): TabClaimRow {
  const claim = JSON.parse(text)
  const entries = claim.entries.map((entry: Json<ClaimedTab>) => ({ ...entry, claimed: units(entry.claimed as never) }))
  return { ...claim, entries }
}

/** JSON text of a voucher. */
export function voucherText(voucher: HeldVoucher): string {
  return JSON.stringify(voucherJson(voucher))
}

/** A voucher from its JSON text. */
export function voucherFrom(text: string): HeldVoucher {
  return voucherOf(JSON.parse(text))
}

/** JSON text of a receipt. */
export function receiptText(receipt: SignedTabReceipt): string {
  return JSON.stringify(receiptJson(receipt))
}

/** A receipt from its JSON text. */
export function receiptFrom(text: string): SignedTabReceipt {
  return receiptOf(JSON.parse(text))
}

function voucherJson(voucher: HeldVoucher) {
  return { ...voucher, ceiling: `${voucher.ceiling}` }
}

function voucherOf(voucher: ReturnType<typeof voucherJson>): HeldVoucher {
  return { ...voucher, ceiling: units(voucher.ceiling) }
}

function receiptJson({ receipt, signature }: SignedTabReceipt) {
  const { charged, cumulative } = receipt
  return { receipt: { ...receipt, charged: `${charged}`, cumulative: `${cumulative}` }, signature }
}

function receiptOf({ receipt, signature }: ReturnType<typeof receiptJson>): SignedTabReceipt {
  const { charged, cumulative } = receipt
  const sums = { charged: units(charged), cumulative: units(cumulative) }
  return { receipt: { ...receipt, ...sums } as TabReceipt, signature }
}

function units(text: string): Amount {
  return amount(BigInt(text))
}
