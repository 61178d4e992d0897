import type { Amount } from '../../../../consensus/primitives/amount.ts'
import type { FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import type { Hash, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import type { TabReceipt } from '../../../../consensus/tx/tab-messages.ts'
import type { TillCall } from '../../rail.ts'

/** A voucher as a call carries it. The secret and the request give its context. */
export interface ShownVoucher {
  readonly seq: number
  /** The most that the seller may have charged in all, in base units. */
  readonly ceiling: Amount
  readonly secret: Uint8Array
  readonly signature: Uint8Array
}

/** What pays for a call on a tab. With `transaction` the seller waits until that opening or top-up is mined. */
export interface TabPayment {
  readonly tabId: TxId
  readonly voucher: ShownVoucher
  /** Id of the `tab_open` or `tab_fund` that was just sent; null if the tab is known to be good. */
  readonly transaction: TxId | null
  /** The newest receipt that the client has. A seller that fell back to an older state of its store finds out by it. */
  readonly lastReceipt?: SignedTabReceipt
}

/** A question about a tab, signed by its voucher key. */
export interface TabQuery {
  readonly tabId: TxId
  readonly timeMs: number
  readonly signature: Uint8Array
}

/** A call that is paid from a tab. */
export interface TabPaidCall extends TillCall {
  readonly payment: TabPayment
}

/** A receipt and the seller's signature of it. */
export interface SignedTabReceipt {
  readonly receipt: TabReceipt
  /** By the receipt key of the tab, in hex. */
  readonly signature: string
}

/** The highest voucher that the seller holds of a tab. */
export interface HeldVoucher {
  readonly seq: number
  readonly ceiling: Amount
  /** What the voucher signs of the call. The voucher of a channel signs nothing of it: there it is the hash of the request. */
  readonly context: Hash
  /** In hex. */
  readonly signature: string
  /** What the rail of channels keeps beside a voucher, as JSON has it. */
  readonly beside?: object
}

/** How a tab stands with its seller: what a client needs to go on after it lost its own notes. */
export interface TabState {
  readonly tabId: TxId
  /** From the chain. `closesAt` is 0 until the payer asks to close. */
  readonly deposit: Amount
  readonly claimed: Amount
  readonly expiresAt: number
  readonly closesAt: number
  /** From the seller's store. */
  readonly charged: Amount
  readonly receipts: number
  readonly nextSeq: number
  readonly voucher: HeldVoucher | null
  readonly lastReceipt: SignedTabReceipt | null
}

/** What one call on a tab costs now, and up to which height this holds. */
export interface TabPrice {
  /** The most that is charged, in base units. */
  readonly amount: Amount
  readonly priceUsdMicros: bigint
  readonly validUntil: number
}

/** The answer of a call on a tab. `result` is JSON text; null after a failure, and once it was deleted. */
export interface AnsweredTabCall {
  readonly state: 'delivered' | 'failed'
  readonly tabId: TxId
  readonly serviceId: ServiceId
  /** Address of the payer in hex. */
  readonly caller: string
  readonly requestHash: Hash
  readonly receipt: SignedTabReceipt
  readonly result: string | null
  readonly finishedAtMs: number
  /** Why the service failed, and what the caller is told; null if it delivered. */
  readonly reason: FaultCode | null
  readonly message: string | null
}
