import type { CallResult, Payment } from '../shapes.ts'
import type { CheckedTab, TabCallOptions, TabClosing, TabReceiptJson, TabStanding } from './tab-types.ts'

/** A deposit with one agent, for calls that are answered at once. */
export interface Tab {
  readonly tabId: string
  readonly agentId: string
  /** Whether calls can be made: it is not stopped, closing or over, as far as this client knows. */
  readonly isUsable: boolean
  /** Calls whose outcome is not known. `resume` finishes them. */
  readonly unanswered: readonly Payment[]
  /** Base units that are left for calls, as far as this client knows. */
  readonly available: bigint
  /**
   * Makes a call. At most eight run at the same time, further ones wait. Errors: `NotChargedError` if the service failed;
   * `SpendLimitError`; `tab_exhausted`; `TabStoppedError`; `InterruptedPaymentError` if no answer came: `resume` asks again.
   */
  call<R = unknown>(
    serviceId: string,
    request?: string,
    options?: TabCallOptions,
    ...more: readonly never[]
  ): Promise<CallResult<R>>
  /** Asks again, with the same bytes, for every call without an answer, or for one. Nothing is charged twice. */
  resume<R = unknown>(seq?: number): Promise<readonly CallResult<R>[]>
  /** Adds coins, decimal text, and waits for the block. */
  topUp(coins: string, ...more: readonly never[]): Promise<TabStanding>
  /** Ends the tab: asks the seller to claim and close, or the chain if it does not answer, or with `byChain`. */
  close(options?: { readonly byChain?: boolean }): Promise<TabClosing>
  /** How it stands, by the chain and by what this client knows. */
  state(...more: readonly never[]): Promise<TabStanding>
  /** Receipts that this client has, in order; with `fromSeller` also those that only the seller has, if it signed them. */
  receipts(options?: ReceiptsOptions): Promise<readonly TabReceiptJson[]>
  /** Checks all receipts against each other, every claim on chain, and the record of the tab. */
  verifyReceipts(...more: readonly never[]): Promise<CheckedTab>
  /** Waits until the opening is in a block, and sends it again if the node does not know it. */
  ready(): Promise<void>
}

/** Options of `tab.receipts`. */
export interface ReceiptsOptions {
  /** Asks the seller for receipts that this client lacks. It keeps them for a day after the end of the tab. */
  readonly fromSeller?: boolean
}

/** Options of `recoverTabs`. */
export interface RecoverOptions {
  /**
   * Coins, decimal text: the most that a seller may have charged that this wallet has no notes of. A tab with more is listed
   * and not used. Default: `maxPerCallCoins`.
   */
  readonly maxUnnoted?: string
}
