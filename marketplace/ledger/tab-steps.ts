import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import type { ReceiptOf } from '../../consensus/ledger/receipt.ts'
import { type Amount, add } from '../../consensus/primitives/amount.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import type { AgentId, Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { TabRules } from '../../consensus/tx/rules.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { Sellers } from './sellers.ts'
import { type ClaimSplit, splitOf, tabAfter, tabClosing, tabOpened } from './tab-changes.ts'
import { lockedIn, TAB_TERMS_TABLE, TABS, type Tab } from './tab-records.ts'

interface Step {
  readonly tabId: TxId
  /** The tab after the step; at its end, as it was before it was deleted. */
  readonly tab: Tab
}

/** A sound entry of a claim. `entry` is its number in the transaction `txId`; `returned` is null unless it closed the tab. */
export interface ClaimStep extends Step {
  readonly what: 'claimed'
  readonly txId: TxId
  readonly entry: number
  readonly claim: ClaimEntry
  readonly split: ClaimSplit
  readonly returned: Amount | null
}

/** What a block did to a tab. */
export type TabStep =
  | (Step & { readonly what: 'opened' | 'funded' | 'closing' })
  | ClaimStep
  | (Step & { readonly what: 'returned'; readonly returned: Amount })

/**
 * Follows the tabs through a block. One that is opened and ends in the same block is in no stored state, so the block's
 * receipts and transactions are followed in order.
 */
export class TabFollower {
  readonly #block: ConnectedBlock
  readonly #sellers: Sellers
  readonly #receiptKeys = new Map<AgentId, Hash>()
  readonly #changed = new Map<TxId, Tab>()

  constructor(connected: ConnectedBlock) {
    this.#block = connected
    this.#sellers = new Sellers(connected.parentState)
  }

  /** Takes the returns at the block's start. */
  ended({ tabId, amount }: ReceiptOf<'tab_return'>): TabStep {
    return { what: 'returned', tabId, tab: this.#tab(tabId), returned: amount }
  }

  /** Takes the block's successful transactions, in order, with the outcomes of their entries. */
  see(tx: Transaction, outcomes: readonly number[]): readonly TabStep[] {
    this.#sellers.see(tx)
    const { kind, payload } = tx.body
    const { height } = this.#block.block.header
    switch (kind) {
      case 'tab_terms':
        this.#receiptKeys.set(payload.agentId, payload.receiptKey)
        return []
      case 'tab_open':
        return [this.#opened(tx)]
      case 'tab_fund': {
        const tab = this.#tab(payload.tabId)
        return [this.#step('funded', payload.tabId, { ...tab, deposit: add(tab.deposit, payload.amount) })]
      }
      case 'tab_close':
        return [this.#step('closing', payload.tabId, tabClosing(this.#tab(payload.tabId), height))]
      case 'tab_claim':
        return payload.entries.flatMap((claim, entry) =>
          outcomes[entry] === OUTCOME_OK ? [this.#claimed(tx.txId, claim, entry)] : [],
        )
      default:
        return []
    }
  }

  #opened({ txId, body }: Transaction): TabStep {
    assert(body.kind === 'tab_open', 'not an opening')
    const { payload, sender } = body
    const { agentId } = payload
    const seller = this.#sellers.of(agentId)
    const terms = this.#block.parentState.get(TAB_TERMS_TABLE, agentId)
    const receiptKey = this.#receiptKeys.get(agentId) ?? terms?.receiptKey
    assert(receiptKey !== undefined, 'a tab was opened without terms')
    const { height } = this.#block.block.header
    return this.#step('opened', txId, tabOpened({ payload, payer: sender, seller, receiptKey, height }))
  }

  #claimed(txId: TxId, claim: ClaimEntry, entry: number): TabStep {
    const { tabId, close } = claim
    const before = this.#tab(tabId)
    const split = splitOf(before, claim, this.#block.rules.tx.tabs as TabRules)
    const tab = tabAfter(before, claim)
    this.#changed.set(tabId, tab)
    return { what: 'claimed', tabId, tab, txId, entry, claim, split, returned: close ? lockedIn(tab) : null }
  }

  #step(what: 'opened' | 'funded' | 'closing', tabId: TxId, tab: Tab): TabStep {
    this.#changed.set(tabId, tab)
    return { what, tabId, tab }
  }

  #tab(tabId: TxId): Tab {
    const tab = this.#changed.get(tabId) ?? this.#block.parentState.get(TABS, tabId)
    assert(tab !== undefined, 'a block changed a tab that was not open')
    return tab
  }
}

const FOLLOWED = new WeakMap<ConnectedBlock, readonly TabStep[]>()

/** What a block did to tabs, in the order of its receipts. Several indexes ask for the same block. */
export function tabStepsOf(connected: ConnectedBlock): readonly TabStep[] {
  const known = FOLLOWED.get(connected)
  if (known !== undefined) return known
  const steps = followed(connected)
  FOLLOWED.set(connected, steps)
  return steps
}

function followed(connected: ConnectedBlock): readonly TabStep[] {
  const { block, receipts } = connected
  const transactions = new Map(block.transactions.map((tx) => [tx.txId, tx]))
  const tabs = new TabFollower(connected)
  return receipts.flatMap((receipt): readonly TabStep[] => {
    if (receipt.type === 'tab_return') return [tabs.ended(receipt)]
    const tx = receipt.type === 'transaction' ? transactions.get(receipt.txId) : undefined
    if (receipt.type !== 'transaction' || tx === undefined || receipt.code !== OUTCOME_OK) return []
    return tabs.see(tx, receipt.entries)
  })
}
