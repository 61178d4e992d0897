import { TAB_RULES } from '../../config/networks/rules.ts'
import type { AgentId, Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { TabRules } from '../../consensus/tx/rules.ts'
import { voucherMessage } from '../../consensus/tx/tab-messages.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { TABS } from '../../marketplace/ledger/tab-records.ts'
import { type TestChain, WALLETS, wallet } from './chain.ts'
import { VOUCHER_KEYS } from './tab-choices.ts'
import { SAMPLE, serviceId, units } from './unsigned.ts'
import { Dice } from './walk.ts'

/** Rules with terms and delays so short that tabs end within a few blocks. */
export const RESTLESS_TABS: TabRules = { ...TAB_RULES, terms: [2, 3, 5, 9], closeDelays: [1, 2, 4] }

const KEY = VOUCHER_KEYS[0] as (typeof VOUCHER_KEYS)[number]

/**
 * Transactions about tabs for a random chain. They have dice of their own, so that they change no other choice. The agents
 * are owned by the first wallets, in order.
 */
export class RandomTabs {
  readonly #test: TestChain
  readonly #agents: readonly AgentId[]
  readonly #dice = new Dice(16)
  #tabs: TxId[] = []

  constructor(test: TestChain, agents: readonly AgentId[]) {
    this.#test = test
    this.#agents = agents
  }

  /** None before the agents have their services. */
  async next(): Promise<readonly Transaction[]> {
    if (this.#test.height === 0 || this.#dice.chance(0.3)) return []
    if (this.#test.height === 1) return Promise.all(this.#agents.map((agentId, i) => this.#terms(agentId, 1 + i)))
    return [await this.#one()]
  }

  #terms(agentId: AgentId, owner: number): Promise<Transaction> {
    return this.#test.tx(wallet(owner), 'tab_terms', SAMPLE.tab_terms({ agentId, minCloseDelay: 1 }))
  }

  #one(): Promise<Transaction> {
    const tabId = this.#tabs.length === 0 ? undefined : this.#dice.one(this.#tabs)
    const tab = tabId === undefined ? undefined : this.#test.chain.database.get(TABS, tabId)
    const choice = this.#dice.below(4)
    if (tabId === undefined || tab === undefined || choice === 0) return this.#open()
    const payer = WALLETS.find(({ address }) => address === tab.payer) ?? wallet(1)
    if (choice === 1) return this.#test.tx(payer, 'tab_close', { tabId })
    const claimed = units(tab.claimed + BigInt(this.#dice.below(200_000)))
    const voucher = { seq: this.#dice.below(9), ceiling: claimed, context: tabId as string as Hash }
    const signature = KEY.sign(voucherMessage(this.#test.ruleBook.network, tabId, voucher))
    const services = [{ serviceId: serviceId('summarise'), calls: 1, amount: units(claimed - tab.claimed) }]
    const sums = { claimed, close: this.#dice.chance(0.25), receipts: tab.receipts + 1, failed: 0, services }
    const entry = { tabId, voucher: [{ ...voucher, signature }], root: tabId as string as Hash, ...sums }
    return this.#test.tx(wallet(1 + this.#agents.indexOf(tab.agentId)), 'tab_claim', { entries: [entry] })
  }

  async #open(): Promise<Transaction> {
    const [term, closeDelay] = [this.#dice.one(RESTLESS_TABS.terms), this.#dice.one(RESTLESS_TABS.closeDelays)]
    const named = { agentId: this.#dice.one(this.#agents), voucherKey: KEY.publicKey as Hash }
    const tx = await this.#test.tx(this.#dice.one(WALLETS), 'tab_open', SAMPLE.tab_open({ ...named, term, closeDelay }))
    this.#tabs = [...this.#tabs.slice(-5), tx.txId]
    return tx
  }
}
