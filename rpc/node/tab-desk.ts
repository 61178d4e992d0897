import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Settled } from '../../marketplace/till/rail.ts'
import type {
  AnsweredTabCall,
  SignedTabReceipt,
  TabPaidCall,
  TabPayment,
  TabPrice,
  TabQuery,
  TabState,
} from '../../marketplace/till/rails/tab/tab-call.ts'
import type { Unpriced } from '../../marketplace/till/rails/tab/tab-price.ts'

/** What the doors need of a seller that takes tabs. */
export interface TabDesk {
  readonly till: {
    settle(call: TabPaidCall): Promise<Result<Settled<AnsweredTabCall>>>
    /** Called when the caller has received the whole answer. */
    handedOver(answer: AnsweredTabCall): Promise<void>
  }
  /** What a call costs now, or why it has no price. */
  priceOf(serviceId: ServiceId): TabPrice | Unpriced
  /** Null if the chain has no such open tab. */
  stateOf(tabId: TxId): Promise<TabState | null>
  /** Receipts of a tab from number `n` on, in order; at most `limit`. */
  receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]>
  /** Why a query is not answered; null if the payer signed it just now. A wrong one counts against its sender. */
  verifyQuery(query: TabQuery, what: 'state' | 'refund', from: Holder): Fault | null
  /** Checks the query, and notes that the payer wants the tab to end. */
  refund(query: TabQuery, from: Holder): Promise<Result<TabState>>
  /** Whether this seller has an open tab of this id. Costs a look-up. */
  knows(tabId: TxId): boolean
  /** Whether this client showed a good signature for the tab lately. */
  isRegular(tabId: TxId, from: Holder): boolean
  /** Whether this very voucher was taken for a call that runs or was charged, and no claim has shown it to others yet. Costs a look-up. */
  hasTaken(payment: TabPayment): Promise<boolean>
  /**
   * Whether the voucher of a refused call is signed by the voucher key of its tab, for this request. A wrong one counts against its
   * sender, and after too many there is no check and the answer is no.
   */
  isOfPayer(call: TabPaidCall): boolean
}
