import type { Holder } from '../../consensus/primitives/fair-share.ts'
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

/** A refund that the seller has begun: its claim closes the tab, and the chain returns the rest. */
export interface BegunRefund {
  /** The claim; null if it is sent later. */
  readonly transaction: TxId | null
}

/** Why there is no price. */
export interface NoPrice {
  readonly reason: string
}

/** What the doors need of the rail of tabs. */
export interface TabDesk {
  readonly till: {
    settle(call: TabPaidCall): Promise<Result<Settled<AnsweredTabCall>>>
    /** Called when the caller has received the whole answer. */
    handedOver(answer: AnsweredTabCall): Promise<void>
  }
  /** What a call costs now, or why no call of this service is taken on a tab. */
  priceOf(serviceId: ServiceId): TabPrice | NoPrice
  /** Undefined if the seller has no such tab. */
  stateOf(tabId: TxId): Promise<TabState | undefined>
  /** Receipts of a tab from number `n` on, in order; at most `limit`. */
  receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]>
  /** Whether the payer asks. Answers nothing about the tab itself. */
  verifyQuery(query: TabQuery, what: 'state' | 'refund', from: Holder): Result<null>
  /** Checks the query, and begins the refund. */
  refund(query: TabQuery, from: Holder): Promise<Result<BegunRefund>>
  /** Whether the seller has an open tab of this id. Costs a look-up. */
  knows(tabId: TxId): boolean
  /** Whether this very voucher was taken for a call before. Costs a look-up. */
  hasTaken(payment: TabPayment): Promise<boolean>
  /**
   * Whether the voucher of a refused call is signed by the voucher key of its tab, for this request. A wrong one counts against its
   * sender, and after too many there is no check and the answer is no.
   */
  isOfPayer(call: TabPaidCall): boolean
}
