import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Address, Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../consensus/tx/kinds.ts'
import type { TabRules } from '../../consensus/tx/rules.ts'
import { voucherMessage } from '../../consensus/tx/tab-messages.ts'
import type { ClaimEntry, Voucher } from '../../consensus/tx/tab-payloads.ts'
import { TABS, type Tab } from '../../marketplace/ledger/tab-records.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { fundedRuleBook, type SentOutcome, TestLedger } from './ledger.ts'
import { VOUCHER_KEYS } from './tab-choices.ts'
import { filled, SAMPLE, serviceId, units } from './unsigned.ts'

/** The launch rules about tabs with more terms and delays, short enough for a test to wait for. */
export const SHORT_TABS: TabRules = { ...TAB_RULES, terms: [8, 30, 1_200], closeDelays: [3, 10, 400] }

/** Rules of a step that has tabs. */
export const WITH_TABS = { tx: { ...LAUNCH_RULES.tx, tabs: SHORT_TABS } }

/** A rule book with tabs that funds the accounts `filled(1)` to `filled(count)`. */
export function tabRuleBook(count = 6, protocol = PROTOCOL): RuleBook {
  return fundedRuleBook(count, protocol, WITH_TABS)
}

/** Accounts of a tab market: the agent's owner, a payer, the agent's payout and settler, and two others. */
export const [OWNER, PAYER, PAYOUT, SETTLER, OTHER, SECOND] = [1, 2, 3, 4, 5, 6].map((n) => filled<Address>(n)) as [
  ...[Address, Address, Address, Address, Address, Address],
]

/** Services of the agent `acme` in these tests. */
export const [FIRST_SERVICE, SECOND_SERVICE] = ['summarise', 'translate'].map(serviceId) as [
  ReturnType<typeof serviceId>,
  ReturnType<typeof serviceId>,
]

/** The key that signs vouchers in these tests. */
export const VOUCHER_KEY = VOUCHER_KEYS[0] as (typeof VOUCHER_KEYS)[number]

/** What a test says of an entry. What is left out follows from the tab, so that the entry holds. */
export interface EntryChange extends Partial<Omit<ClaimEntry, 'voucher'>> {
  /** Null for no voucher. */
  readonly voucher?: Partial<Voucher> | null
  readonly signer?: (typeof VOUCHER_KEYS)[number]
}

/** The ledgers with an agent that takes tabs, and its two services. Its next block has height 5. */
export class TabLedger extends TestLedger {
  constructor(ruleBook: RuleBook = tabRuleBook()) {
    super(ruleBook)
    this.send(OWNER, 'agent_register', SAMPLE.agent_register())
    for (const id of [FIRST_SERVICE, SECOND_SERVICE])
      this.send(OWNER, 'service_publish', SAMPLE.service_publish({ serviceId: id }))
    this.send(OWNER, 'tab_terms', SAMPLE.tab_terms({ minCloseDelay: 3 }))
  }

  /** Opens a tab and returns its id. */
  openTab(change: Partial<PayloadOf<'tab_open'>> = {}, payer = PAYER): TxId {
    const { code, tx } = this.send(payer, 'tab_open', this.opening(change))
    if (code !== 'success') throw new Error(code)
    return tx.txId
  }

  opening(change: Partial<PayloadOf<'tab_open'>> = {}): PayloadOf<'tab_open'> {
    const fields = { deposit: units(10_000_000), term: 30, closeDelay: 3 }
    return SAMPLE.tab_open({ ...fields, voucherKey: VOUCHER_KEY.publicKey as Hash, ...change })
  }

  tab(tabId: TxId): Tab {
    const tab = this.get(TABS, tabId)
    if (tab === undefined) throw new Error('no such tab')
    return tab
  }

  /** An entry that holds for the tab as it is now, with changes. One service has all calls and the whole difference. */
  entry(tabId: TxId, change: EntryChange = {}, tab: Pick<Tab, 'claimed' | 'receipts'> = this.tab(tabId)): ClaimEntry {
    const { voucher = {}, signer = VOUCHER_KEY, ...fields } = change
    const claimed = fields.claimed ?? units(tab.claimed + 300_000n)
    const calls = fields.receipts === undefined ? 1 : fields.receipts - tab.receipts
    const amount = units(claimed > tab.claimed ? claimed - tab.claimed : 0n)
    const services = fields.services ?? (calls > 0 ? [{ serviceId: FIRST_SERVICE, calls, amount }] : [])
    const failed = fields.failed ?? 0
    const receipts = fields.receipts ?? tab.receipts + 1 + failed
    const root = receipts > tab.receipts ? filled<Hash>(5) : (ZERO_HEX_32 as Hash)
    const base = { tabId, close: false, root, ...fields, claimed, receipts, failed, services }
    return {
      ...base,
      voucher: voucher === null ? [] : [this.#voucher(tabId, { ceiling: claimed, ...voucher }, signer)],
    }
  }

  #voucher(tabId: TxId, change: Partial<Voucher>, signer: (typeof VOUCHER_KEYS)[number]): Voucher {
    const fields = { seq: 0, ceiling: units(0), context: filled<Hash>(7), ...change }
    const message = voucherMessage(this.ruleBook.network, tabId, fields)
    return { ...fields, signature: change.signature ?? signer.sign(message) }
  }

  /** Executes a block with one claim. */
  claim(entries: readonly ClaimEntry[], sender = SETTLER): SentOutcome {
    return this.send(sender, 'tab_claim', { entries })
  }

  /** Codes of a claim's entries. */
  codes(entries: readonly ClaimEntry[], sender = SETTLER): readonly number[] {
    return this.claim(entries, sender).receipt.entries
  }
}
