import { ceilOf, sum } from './arithmetic.ts'
import { hex, tagged, unhex, ZERO32 } from './bytes.ts'
import { agentKey, type Ledger, NATIVE, NO_STATISTICS, serviceKey } from './ledger.ts'
import { CODE, need } from './outcome.ts'
import type { TabParams } from './params.ts'
import type { Fields } from './payloads.ts'
import type { Place } from './place.ts'
import { u32, u128 } from './ssz.ts'
import { tabSignatureVerifies, voucherMessage } from './tab-keys.ts'
import type { ClaimEntry, Tab } from './tab-schemas.ts'

const NO_TOTALS = { open: 0, locked: 0n, claimed: 0n, burned: 0n }

/** The height at whose start a tab ends. */
export const dueOf = ({ closesAt, expiresAt }: Tab): number => (closesAt === 0 ? expiresAt : closesAt)

/** The rules about tabs. Throws if there are none: then the kinds are malformed. */
export function tabRules({ rules }: Pick<Place, 'rules'>): TabParams {
  const { tabs } = rules.tx
  if (tabs === undefined) throw new Error('no tabs yet')
  return tabs
}

function moveTotals(ledger: Ledger, change: Partial<typeof NO_TOTALS>): void {
  const old = ledger.tabTotals.get('') ?? NO_TOTALS
  ledger.tabTotals.set('', {
    open: old.open + (change.open ?? 0),
    locked: old.locked + (change.locked ?? 0n),
    claimed: old.claimed + (change.claimed ?? 0n),
    burned: old.burned + (change.burned ?? 0n),
  })
}

export function tabTerms({ ledger, sender }: Place, payload: Fields<'tab_terms'>): void {
  const agent = ledger.agents.get(agentKey(payload.agentId))
  need(agent !== undefined, 'agentUnknown')
  need(agent.owner === sender, 'notOwner')
  const { receiptKey, minDeposit, minCloseDelay } = payload
  ledger.tabTerms.set(agentKey(payload.agentId), { receiptKey, minDeposit, minCloseDelay })
}

export function tabOpen({ ledger, sender, height, txid }: Place, payload: Fields<'tab_open'>): void {
  const { agentId, deposit, term, closeDelay, scheme, voucherKey } = payload
  const agent = ledger.agents.get(agentKey(agentId))
  need(agent !== undefined, 'agentUnknown')
  const terms = ledger.tabTerms.get(agentKey(agentId))
  need(terms !== undefined && terms.receiptKey !== ZERO32, 'tabNoTerms')
  need(deposit >= terms.minDeposit, 'tabDepositLow')
  need(closeDelay >= terms.minCloseDelay, 'tabDelayShort')
  ledger.take(sender, NATIVE, deposit)
  ledger.tabs.set(txid, {
    version: 1,
    agentId,
    payer: sender,
    payout: agent.payout,
    insider: [agent.owner, agent.payout, ...agent.settlers].includes(sender),
    scheme,
    voucherKey,
    receiptKey: terms.receiptKey,
    deposit,
    claimed: 0n,
    receipts: 0,
    chain: ZERO32,
    openedAt: height,
    expiresAt: height + term,
    closeDelay,
    closesAt: 0,
  })
  moveTotals(ledger, { open: 1, locked: deposit })
}

/** The sender's tab, which the sender has not asked to close. */
function ownTab({ ledger, sender }: Place, tabId: string): Tab {
  const tab = ledger.tabs.get(tabId)
  need(tab !== undefined, 'tabUnknown')
  need(tab.payer === sender, 'tabForeign')
  need(tab.closesAt === 0, 'tabClosing')
  return tab
}

export function tabFund(place: Place, { tabId, amount }: Fields<'tab_fund'>): void {
  const { ledger, sender } = place
  const tab = ownTab(place, tabId)
  ledger.take(sender, NATIVE, amount)
  ledger.tabs.set(tabId, { ...tab, deposit: tab.deposit + amount })
  moveTotals(ledger, { locked: amount })
}

export function tabClose(place: Place, { tabId }: Fields<'tab_close'>): void {
  const tab = ownTab(place, tabId)
  place.ledger.tabs.set(tabId, { ...tab, closesAt: Math.min(tab.expiresAt, place.height + tab.closeDelay) })
}

/** Deletes a tab and gives the payer what was not claimed. Returns the amount. */
export function endTab(ledger: Ledger, tabId: string, tab: Tab): bigint {
  const rest = tab.deposit - tab.claimed
  ledger.tabs.delete(tabId)
  ledger.credit(tab.payer, rest)
  moveTotals(ledger, { open: -1, locked: -rest })
  return rest
}

/** The first check of an entry that fails, in the order of ledgers.md, section 10. */
function faultOf({ ledger, sender, rules, genesisId }: Place, entry: ClaimEntry): number {
  const tab = ledger.tabs.get(entry.tabId)
  if (tab === undefined) return CODE.tabUnknown
  const { owner, settlers } = ledger.agents.of(agentKey(tab.agentId))
  if (owner !== sender && !settlers.includes(sender)) return CODE.tabForeign
  if (entry.claimed < tab.claimed || entry.receipts < tab.receipts) return CODE.tabStale
  if (entry.claimed === tab.claimed && entry.receipts === tab.receipts && !entry.close) return CODE.tabStale
  const [voucher] = entry.voucher
  if (entry.claimed > (voucher === undefined ? tab.claimed : voucher.ceiling)) return CODE.tabOverCeiling
  if (entry.claimed > tab.deposit) return CODE.tabOverDeposit
  if (sum(entry.services.map(({ amount }) => amount)) !== entry.claimed - tab.claimed) return CODE.tabSum
  const calls = entry.receipts - tab.receipts
  if (entry.services.reduce((all, one) => all + one.calls, entry.failed) !== calls) return CODE.tabCount
  if ((entry.root === ZERO32) !== (calls === 0)) return CODE.tabCount
  if (entry.services.some(({ serviceId }) => ledger.services.get(serviceKey(tab.agentId, serviceId)) === undefined))
    return CODE.serviceUnknown
  if (voucher === undefined) return CODE.success
  const message = voucherMessage(entry.tabId, voucher, { chainId: rules.tx.chainId, genesisId })
  return tabSignatureVerifies(unhex(tab.voucherKey), message, voucher.signature) ? CODE.success : CODE.tabSignature
}

interface Counted {
  readonly serviceId: string
  readonly amount: bigint
  readonly counted: bigint
}

function countCalls(ledger: Ledger, { agentId, payer }: Tab, { serviceId, amount, counted }: Counted): void {
  const payers = counted > 0n && ledger.markPayer(payer, agentId, serviceId) ? 1 : 0
  const grow = (table: Ledger['agentStatistics'], id: string): void => {
    const old = table.get(id) ?? NO_STATISTICS
    const calls = old.calls + Number(counted)
    table.set(id, { calls, volume: old.volume + amount, payers: old.payers + payers })
  }
  grow(ledger.serviceStatistics, serviceKey(agentId, serviceId))
  grow(ledger.agentStatistics, agentKey(agentId))
}

const chainAfter = (tab: Tab, { root, receipts, claimed }: ClaimEntry): string =>
  hex(tagged('tab-chain', unhex(tab.chain), unhex(root), u32.encode(receipts), u128.encode(claimed)))

/** What an entry that holds moves: paid, burned, returned. */
function settleEntry(place: Place, entry: ClaimEntry): bigint[] {
  const { ledger } = place
  const { callBurn, burnDivisor, countedAmount } = tabRules(place)
  const tab = ledger.tabs.of(entry.tabId)
  const difference = entry.claimed - tab.claimed
  const services = entry.services.map(({ serviceId, calls, amount }): Counted => {
    const most = amount / countedAmount
    return { serviceId, amount, counted: BigInt(calls) < most ? BigInt(calls) : most }
  })
  const share = ceilOf(difference, burnDivisor)
  const byCalls = callBurn * sum(services.map(({ counted }) => counted))
  const burned = share > byCalls ? share : byCalls
  ledger.burn(burned)
  ledger.credit(tab.payout, difference - burned)
  if (!tab.insider) for (const one of services) countCalls(ledger, tab, one)
  const chain = entry.receipts > tab.receipts ? chainAfter(tab, entry) : tab.chain
  const after = { ...tab, claimed: entry.claimed, receipts: entry.receipts, chain }
  ledger.tabs.set(entry.tabId, after)
  moveTotals(ledger, { locked: -difference, claimed: difference, burned })
  const returned = entry.close ? endTab(ledger, entry.tabId, after) : 0n
  return [difference - burned, burned, returned]
}

export function tabClaim(
  place: Place,
  { entries }: Fields<'tab_claim'>,
): { readonly entries: number[]; readonly amounts: bigint[] } {
  const amounts = [0n, 0n, 0n]
  const codes = entries.map((entry) => {
    const code = faultOf(place, entry)
    const moved = code === CODE.success ? settleEntry(place, entry) : []
    for (const [i, amount] of moved.entries()) amounts[i] = (amounts[i] as bigint) + amount
    return code
  })
  return { entries: codes, amounts }
}
