import { credit, debit } from '../../consensus/ledger/account.ts'
import type { BlockContext, KindHandler, LedgerModule, StateRecord, TxContext } from '../../consensus/ledger/module.ts'
import { OUTCOME_NUMBERS, OUTCOME_OK, type OutcomeCode } from '../../consensus/ledger/outcome.ts'
import { burnNative } from '../../consensus/ledger/supply.ts'
import { type Amount, add, subtractProven, ZERO } from '../../consensus/primitives/amount.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Address, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { Overlay } from '../../consensus/state/overlay.ts'
import { anyTable } from '../../consensus/state/table.ts'
import type { TabRules } from '../../consensus/tx/rules.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import { AGENTS, mayActFor, SERVICES } from './agents.ts'
import { countDeliveries } from './statistics.ts'
import { splitOf, tabAfter, tabClosing, tabOpened } from './tab-changes.ts'
import { tabInvariant } from './tab-invariant.ts'
import {
  addDue,
  dueHeight,
  lockedIn,
  removeDue,
  TAB_DUES,
  TAB_TERMS_TABLE,
  TAB_TOTALS,
  TABS,
  type Tab,
  tabTotals,
} from './tab-records.ts'
import { voucherSignature, voucherSignatures } from './tab-vouchers.ts'

const RELISTED_PER_STEP = 64

const tabTerms: KindHandler<'tab_terms'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const { agentId, ...terms } = payload
    const agent = overlay.get(AGENTS, agentId)
    if (agent === undefined) return fault('ledger/agent-unknown', { agentId })
    if (agent.owner !== sender) return fault('ledger/not-owner', { agentId })
    overlay.put(TAB_TERMS_TABLE, agentId, terms)
    return null
  },
}

const tabOpen: KindHandler<'tab_open'> = {
  spends: ({ payload }) => payload.deposit,
  apply: ({ overlay, height }, { txId, body: { sender, payload } }) => {
    const { agentId, deposit, closeDelay } = payload
    const agent = overlay.get(AGENTS, agentId)
    if (agent === undefined) return fault('ledger/agent-unknown', { agentId })
    const terms = overlay.get(TAB_TERMS_TABLE, agentId)
    if (terms === undefined || terms.receiptKey === ZERO_HEX_32) return fault('tab/no-terms', { agentId })
    const { receiptKey, minDeposit, minCloseDelay } = terms
    if (deposit < minDeposit) return fault('tab/deposit-low', { agentId, minimum: minDeposit.toString() })
    if (closeDelay < minCloseDelay) return fault('tab/delay-short', { agentId, minimum: minCloseDelay })
    const short = debit(overlay, sender, deposit)
    if (short !== null) return short
    const tab = tabOpened({ payload, payer: sender, seller: agent, receiptKey, height })
    overlay.put(TABS, txId, tab)
    addDue(overlay, dueHeight(tab), txId)
    const totals = tabTotals(overlay)
    overlay.put(TAB_TOTALS, undefined, { ...totals, open: totals.open + 1, locked: add(totals.locked, deposit) })
    return null
  },
}

const tabFund: KindHandler<'tab_fund'> = {
  spends: ({ payload }) => payload.amount,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const { tabId, amount: more } = payload
    const tab = openTabOf(overlay, tabId, sender)
    if ('code' in tab) return tab
    const short = debit(overlay, sender, more)
    if (short !== null) return short
    overlay.put(TABS, tabId, { ...tab, deposit: add(tab.deposit, more) })
    const totals = tabTotals(overlay)
    overlay.put(TAB_TOTALS, undefined, { ...totals, locked: add(totals.locked, more) })
    return null
  },
}

const tabClose: KindHandler<'tab_close'> = {
  spends: () => ZERO,
  apply: ({ overlay, height }, { body: { sender, payload } }) => {
    const { tabId } = payload
    const tab = openTabOf(overlay, tabId, sender)
    if ('code' in tab) return tab
    const closing = tabClosing(tab, height)
    removeDue(overlay, dueHeight(tab), tabId)
    addDue(overlay, dueHeight(closing), tabId)
    overlay.put(TABS, tabId, closing)
    return null
  },
}

/** The payer's tab, if it is not closing. */
function openTabOf(overlay: Overlay, tabId: TxId, payer: Address): Tab | Fault {
  const tab = overlay.get(TABS, tabId)
  if (tab === undefined) return fault('tab/unknown', { tabId })
  if (tab.payer !== payer) return fault('tab/foreign')
  return tab.closesAt === 0 ? tab : fault('tab/closing', { closesAt: tab.closesAt })
}

/** What claims moved, for the receipt. */
interface Moved {
  readonly paid: Amount
  readonly burned: Amount
  readonly returned: Amount
}

/** Each entry succeeds or fails by itself. */
const tabClaim: KindHandler<'tab_claim'> = {
  spends: () => ZERO,
  isSpent: ({ payload }, view) =>
    payload.entries.every((entry) => {
      const tab = view.get(TABS, entry.tabId)
      return tab === undefined || isStale(tab, entry)
    }),
  apply: (context, { body: { sender, payload } }) => {
    let sum: Moved = { paid: ZERO, burned: ZERO, returned: ZERO }
    const outcomes = payload.entries.map((entry) => {
      const moved = claimEntry(context, entry, sender)
      if (typeof moved === 'string') return OUTCOME_NUMBERS[moved]
      sum = {
        paid: add(sum.paid, moved.paid),
        burned: add(sum.burned, moved.burned),
        returned: add(sum.returned, moved.returned),
      }
      return OUTCOME_OK
    })
    context.reportEntries(outcomes)
    context.reportAmounts([sum.paid, sum.burned, sum.returned])
    return null
  },
}

function claimEntry(context: TxContext, entry: ClaimEntry, sender: Address): Moved | OutcomeCode {
  const { overlay } = context
  const tab = overlay.get(TABS, entry.tabId)
  if (tab === undefined) return 'tab/unknown'
  const agent = overlay.get(AGENTS, tab.agentId)
  assert(agent !== undefined, 'a tab of an agent that is not there')
  if (!mayActFor(agent, sender)) return 'tab/foreign'
  return whyNotClaimed(context, tab, entry) ?? settleEntry(context, tab, entry)
}

/** The signature is checked last, so that other faults cost no verification. */
function whyNotClaimed(context: TxContext, tab: Tab, entry: ClaimEntry): OutcomeCode | null {
  const { claimed, receipts, failed, root, services } = entry
  const [voucher] = entry.voucher
  if (isStale(tab, entry)) return 'tab/stale'
  if (claimed > (voucher?.ceiling ?? tab.claimed)) return 'tab/over-ceiling'
  if (claimed > tab.deposit) return 'tab/over-deposit'
  if (services.reduce((sum, service) => sum + service.amount, 0n) !== claimed - tab.claimed) return 'tab/sum'
  const calls = services.reduce((sum, service) => sum + service.calls, 0)
  const fresh = receipts - tab.receipts
  if (calls + failed !== fresh || (fresh === 0) !== (root === ZERO_HEX_32)) return 'tab/count'
  const { agentId } = tab
  const isForeign = ({ serviceId }: { readonly serviceId: ServiceId }): boolean =>
    context.overlay.get(SERVICES, { agentId, serviceId }) === undefined
  if (services.some(isForeign)) return 'ledger/service-unknown'
  if (voucher === undefined) return null
  const { voucherKey } = tab
  const signed = voucherSignature(context.network, { tabId: entry.tabId, voucherKey, voucher })
  return context.verifiesTab(signed) ? null : 'tab/signature'
}

/** Whether the chain has what the entry claims, or more. */
function isStale(tab: Tab, { claimed, receipts, close }: ClaimEntry): boolean {
  const isNew = claimed > tab.claimed || receipts > tab.receipts
  return claimed < tab.claimed || receipts < tab.receipts || !(isNew || close)
}

function settleEntry({ overlay, rules }: TxContext, tab: Tab, entry: ClaimEntry): Moved {
  const { tabId, close } = entry
  const { charged, paid, burned, counted } = splitOf(tab, entry, rules.tx.tabs as TabRules)
  burnNative(overlay, burned)
  const isPaid = credit(overlay, tab.payout, paid)
  assert(isPaid, 'a payout account is gone')
  if (!tab.insider) countDeliveries(overlay, tab.agentId, tab.payer, counted)
  const after = tabAfter(tab, entry)
  const totals = tabTotals(overlay)
  const moved = {
    locked: subtractProven(totals.locked, charged),
    claimed: add(totals.claimed, charged),
    burned: add(totals.burned, burned),
  }
  overlay.put(TAB_TOTALS, undefined, { ...totals, ...moved })
  overlay.put(TABS, tabId, after)
  if (!close) return { paid, burned, returned: ZERO }
  removeDue(overlay, dueHeight(tab), tabId)
  return { paid, burned, returned: returnRest(overlay, tabId, after) }
}

/** Ends a tab: what is left goes to its payer. */
function returnRest(overlay: Overlay, tabId: TxId, tab: Tab): Amount {
  const rest = lockedIn(tab)
  overlay.delete(TABS, tabId)
  const isReturned = credit(overlay, tab.payer, rest)
  assert(isReturned, 'a payer account is gone')
  const totals = tabTotals(overlay)
  overlay.put(TAB_TOTALS, undefined, { ...totals, open: totals.open - 1, locked: subtractProven(totals.locked, rest) })
  return rest
}

/** All tabs that are due at this height end, in ascending order of their ids. No operator takes part. */
function* returnDue({ height, overlay, emit }: BlockContext): Iterable<void> {
  const ids = overlay.get(TAB_DUES, height)
  if (ids === undefined) return
  overlay.delete(TAB_DUES, height)
  for (const tabId of ids) {
    const tab = overlay.get(TABS, tabId)
    assert(tab !== undefined, 'a tab that is due is not there')
    emit({ type: 'tab_return', tabId, payer: tab.payer, amount: returnRest(overlay, tabId, tab) })
    yield
  }
}

/** Rebuilds the lists of due tabs. */
function* relistDues(overlay: Overlay, records: Iterable<StateRecord>): Iterable<void> {
  let seen = 0
  const found = new Map<number, TxId[]>()
  for (const { key, value } of records) {
    if (!key.startsWith(TABS.key('' as TxId))) continue
    const tabId = key.slice(2) as TxId
    const due = dueHeight(value as Tab)
    const ids = found.get(due)
    if (ids === undefined) found.set(due, [tabId])
    else ids.push(tabId)
    if (++seen % RELISTED_PER_STEP === 0) yield
  }
  for (const [due, added] of found) {
    overlay.put(
      TAB_DUES,
      due,
      [...(overlay.get(TAB_DUES, due) ?? []), ...added].sort((a, b) => (a < b ? -1 : 1)),
    )
    yield
  }
}

/** Tabs: prepaid sessions with one agent, claimed by the agent, and returned by consensus. */
export const tabModule = {
  name: 'tabs',
  tables: [anyTable(TABS), anyTable(TAB_TOTALS), anyTable(TAB_TERMS_TABLE), anyTable(TAB_DUES)],
  handlers: { tab_open: tabOpen, tab_fund: tabFund, tab_claim: tabClaim, tab_close: tabClose, tab_terms: tabTerms },
  isIn: ({ tx }) => tx.tabs !== undefined,
  beginBlock: returnDue,
  signaturesIn: voucherSignatures,
  derive: relistDues,
  invariant: tabInvariant,
} satisfies LedgerModule
