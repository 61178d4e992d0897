import { describe, expect, it } from 'vitest'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import type { KindHandlers } from '../../../../consensus/ledger/module.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import { tabInvariant } from '../../../../marketplace/ledger/tab-invariant.ts'
import { addDue, removeDue, TAB_DUES, TAB_TOTALS, TABS, type Tab } from '../../../../marketplace/ledger/tab-records.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { OTHER, PAYER, TabLedger, tabRuleBook } from '../../../support/tab-ledger.ts'
import { filled, SAMPLE, units } from '../../../support/unsigned.ts'

const ledger = new TabLedger()
const tabId = ledger.openTab()
ledger.claim([ledger.entry(tabId, { receipts: 2 })])
const TAB = ledger.tab(tabId)
const TOTALS = ledger.get(TAB_TOTALS, undefined)!
const DUE = TAB.expiresAt

type Break = (overlay: Overlay) => void

const putTab =
  (change: Partial<Tab>): Break =>
  (overlay) =>
    overlay.put(TABS, tabId, { ...TAB, ...change })
const putTotals =
  (change: Partial<typeof TOTALS>): Break =>
  (overlay) =>
    overlay.put(TAB_TOTALS, undefined, { ...TOTALS, ...change })
const all =
  (...breaks: readonly Break[]): Break =>
  (overlay) => {
    for (const one of breaks) one(overlay)
  }

/** Changes as no handler makes them, and the invariant that each breaks. */
const BROKEN: readonly (readonly [invariant: string, what: string, change: Break])[] = [
  ['tab-totals', 'a tab that the totals do not count', (o) => o.put(TABS, filled<TxId>(8), TAB)],
  ['tab-totals', 'one tab too many counted', putTotals({ open: 2 })],
  ['tab-totals', 'more locked than the tabs lock', putTotals({ locked: units(TOTALS.locked + 1n) })],
  ['tab-totals', 'a deposit that the totals do not know', putTab({ deposit: units(TAB.deposit + 1n) })],
  ['tab-totals', 'a claim that the totals do not know', putTab({ claimed: units(TAB.claimed + 1n) })],
  ['tab-totals', 'a sum of claims that falls', putTotals({ claimed: units(TOTALS.claimed - 1n) })],
  ['tab-totals', 'a sum of burns that falls', putTotals({ burned: units(TOTALS.burned - 1n) })],
  [
    'tab-totals',
    'a tab that is gone, but counted',
    all(
      (o) => o.delete(TABS, tabId),
      (o) => removeDue(o, DUE, tabId),
    ),
  ],
  ['tab-record', 'a deposit that falls', putTab({ deposit: units(TAB.deposit - 1n) })],
  ['tab-record', 'a claimed sum that falls', putTab({ claimed: units(TAB.claimed - 1n) })],
  ['tab-record', 'receipts that fall', putTab({ receipts: 1 })],
  ['tab-record', 'another payer', putTab({ payer: OTHER })],
  ['tab-record', 'another payout', putTab({ payout: OTHER })],
  ['tab-record', 'another voucher key', putTab({ voucherKey: filled(7) })],
  ['tab-record', 'another receipt key', putTab({ receiptKey: filled(7) })],
  ['tab-record', 'another agent', putTab({ agentId: 'other' as Tab['agentId'] })],
  ['tab-record', 'a later expiry', putTab({ expiresAt: DUE + 1 })],
  ['tab-record', 'another close delay', putTab({ closeDelay: 400 })],
  ['tab-record', 'another scheme', putTab({ scheme: 0x12 })],
  ['tab-record', 'an insider from now on', putTab({ insider: true })],
  ['tab-dues', 'a due height that the lists do not know', putTab({ closesAt: DUE - 1 })],
  ['tab-dues', 'a tab in no list', (o) => o.delete(TAB_DUES, DUE)],
  ['tab-dues', 'a tab in two lists', (o) => addDue(o, DUE + 1, tabId)],
  ['tab-dues', 'a tab twice in its list', (o) => o.put(TAB_DUES, DUE, [tabId, tabId])],
  [
    'tab-dues',
    'a tab in another list',
    all(
      (o) => removeDue(o, DUE, tabId),
      (o) => addDue(o, DUE + 1, tabId),
    ),
  ],
  ['tab-dues', 'a list of a tab that there is not', (o) => addDue(o, DUE, filled<TxId>(8))],
]

describe('the invariant of tabs', () => {
  it.each(BROKEN)('%s: catches %s', (invariant, _, change) => {
    const overlay = new Overlay(ledger.state)
    change(overlay)
    expect(tabInvariant(overlay.changesSince(0))).toBe(invariant)
  })

  it('catches a closing height that changes', () => {
    const closing = new TabLedger()
    const id = closing.openTab()
    closing.send(PAYER, 'tab_close', { tabId: id })
    const { closesAt } = closing.tab(id)
    for (const again of [0, closesAt + 1]) {
      const overlay = new Overlay(closing.state)
      removeDue(overlay, closesAt, id)
      const tab = { ...closing.tab(id), closesAt: again }
      overlay.put(TABS, id, tab)
      addDue(overlay, again === 0 ? tab.expiresAt : again, id)
      expect(tabInvariant(overlay.changesSince(0))).toBe('tab-record')
    }
  })

  it('lets what handlers do pass, and a change of nothing', () => {
    const overlay = new Overlay(ledger.state)
    expect(tabInvariant(overlay.changesSince(0))).toBeNull()
    putTab({})(overlay)
    expect(tabInvariant(overlay.changesSince(0))).toBeNull()
  })

  it('fails a transaction that breaks it with code 1, though coins are conserved', () => {
    const apply: KindHandlers['transfer']['apply'] = ({ overlay }) => {
      // A coin goes from the payer into the deposit of its tab, past the totals.
      const [id] = overlay.get(TAB_DUES, 35) ?? []
      const tab = overlay.get(TABS, id!)!
      const payer = overlay.get(ACCOUNTS, PAYER)!
      overlay.put(ACCOUNTS, PAYER, { ...payer, balance: units(payer.balance - 1n) })
      overlay.put(TABS, id!, { ...tab, deposit: units(tab.deposit + 1n) })
      return null
    }
    const handlers = { ...PROTOCOL.handlers, transfer: { ...PROTOCOL.handlers.transfer, apply } }
    const broken = new TabLedger(tabRuleBook(6, { ...PROTOCOL, handlers }))
    const id = broken.openTab()
    const before = broken.tab(id)
    expect(broken.send(PAYER, 'transfer', SAMPLE.transfer()).receipt.code).toBe(1)
    expect(broken.tab(id)).toEqual(before)
  })
})
