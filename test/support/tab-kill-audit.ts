import { TAB_RULES } from '../../config/networks/rules.ts'
import { decodeReceipt, type ReceiptOf } from '../../consensus/ledger/receipt.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { encodeTabReceipt, tabReceiptsRoot } from '../../consensus/tx/tab-messages.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { tabTotals } from '../../marketplace/ledger/tab-records.ts'
import type { SignedTabReceipt } from '../../marketplace/till/rails/tab/tab-call.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import type { KillNetwork, SeenAnswer } from './tab-kill-network.ts'
import { addressOf, PAYOUT } from './tab-kill-order.ts'

/** All that the chain says of one tab. */
export interface TabHistory {
  readonly tabId: TxId
  readonly payer: string
  readonly openedAt: number
  endedAt: number
  deposit: bigint
  claimed: bigint
  paid: bigint
  burned: bigint
  returned: bigint
  ends: number
  receipts: number
  /** Accepted claims: receipts up to this number, and the root over them. */
  readonly claims: { readonly from: number; readonly to: number; readonly root: string }[]
}

/** The tabs of a chain, from its blocks alone. */
export function tabHistories({ test }: KillNetwork): ReadonlyMap<string, TabHistory> {
  const { database } = test.chain
  const tabs = new Map<string, TabHistory>()
  for (let height = 1; height <= test.height; height++) {
    const id = database.idAt(height) as never
    const receipts = (database.receipts(id) ?? []).map(decodeReceipt)
    for (const receipt of receipts) {
      if (receipt.type !== 'tab_return') continue
      const tab = tabs.get(receipt.tabId) as TabHistory
      end(tab, receipt.amount, height)
    }
    const outcomes = new Map(receipts.flatMap((one) => (one.type === 'transaction' ? [[one.txId, one] as const] : [])))
    for (const tx of database.block(id)?.transactions ?? []) {
      const outcome = outcomes.get(tx.txId)
      if (outcome?.code === 0) apply(tabs, tx, outcome, height)
    }
  }
  return tabs
}

function apply(
  tabs: Map<string, TabHistory>,
  { txId, body }: Transaction,
  { entries }: ReceiptOf<'transaction'>,
  height: number,
): void {
  if (body.kind === 'tab_open')
    tabs.set(txId, {
      ...{
        tabId: txId,
        payer: body.sender,
        openedAt: height,
        endedAt: 0,
        deposit: body.payload.deposit,
        claimed: 0n,
        paid: 0n,
      },
      ...{ burned: 0n, returned: 0n, ends: 0, receipts: 0, claims: [] },
    })
  if (body.kind !== 'tab_claim') return
  for (const [i, entry] of body.payload.entries.entries())
    if (entries[i] === 0) claim(tabs.get(entry.tabId) as TabHistory, entry, height)
}

function end(tab: TabHistory, returned: bigint, height: number): void {
  tab.returned += returned
  tab.ends += 1
  tab.endedAt = height
}

function claim(tab: TabHistory, { claimed, receipts, root, services, close }: ClaimEntry, height: number): void {
  const difference = claimed - tab.claimed
  const calls = services.reduce((sum, service) => sum + service.calls, 0)
  const part = (difference + TAB_RULES.burnDivisor - 1n) / TAB_RULES.burnDivisor
  const byCall = BigInt(calls) * TAB_RULES.callBurn
  const burn = [part > byCall ? part : byCall, difference].reduce((a, b) => (a < b ? a : b))
  tab.burned += burn
  tab.paid += difference - burn
  tab.claimed = claimed
  if (receipts > tab.receipts) tab.claims.push({ from: tab.receipts + 1, to: receipts, root })
  tab.receipts = receipts
  if (close) end(tab, tab.deposit - claimed, height)
}

/** Whether the seller's store was lost while the tab was open: then calls may be lost, and be made again. */
export function isBereft({ losses }: KillNetwork, { openedAt, endedAt }: TabHistory): boolean {
  return losses.some((height) => openedAt <= height && height < endedAt)
}

/** What is wrong with the ends of tabs and with the money. Empty if nothing is. */
export function moneyFaults(network: KillNetwork, tabs: Iterable<TabHistory>): readonly string[] {
  const faults: string[] = []
  let [paid, burned, claimed] = [0n, 0n, 0n]
  for (const tab of tabs) {
    const { tabId, deposit, returned, ends } = tab
    if (ends !== 1) faults.push(`${tabId} ended ${ends} times`)
    if (tab.paid + tab.burned + returned !== deposit)
      faults.push(`${tabId}: paid ${tab.paid}, burned ${tab.burned}, returned ${returned}, deposit ${deposit}`)
    paid += tab.paid
    burned += tab.burned
    claimed += tab.claimed
  }
  const { test } = network
  const totals = tabTotals(test.chain.database as never)
  const told = JSON.stringify([totals.open, `${totals.locked}`, `${totals.claimed}`, `${totals.burned}`])
  if (told !== JSON.stringify([0, '0', `${claimed}`, `${burned}`])) faults.push(`the chain's totals are ${told}`)
  const earned = test.balance(addressOf(PAYOUT)) - network.payoutBefore
  if (earned !== paid) faults.push(`the payout has ${earned}, claims paid ${paid}`)
  return faults
}

/** Whether the store that the seller has now is as old as the tab. */
export function hasReceipts({ losses }: KillNetwork, { openedAt }: TabHistory): boolean {
  return losses.every((height) => height < openedAt)
}

/** What is wrong with the receipts in the store of a seller that lost nothing, beside the chain and the answers. */
export async function receiptFaults(
  store: Pick<TabStore, 'receiptsFrom'>,
  tab: TabHistory,
  seen: readonly SeenAnswer[],
): Promise<readonly string[]> {
  const faults: string[] = []
  const kept = await store.receiptsFrom(tab.tabId, 1, 1_000_000)
  let sum = 0n
  for (const [i, { receipt }] of kept.entries()) {
    sum += receipt.charged
    if (receipt.n !== i + 1 || receipt.cumulative !== sum) faults.push(`${tab.tabId}: receipt ${i + 1} is ${receipt.n}`)
  }
  const seqs = kept.map(({ receipt }) => receipt.seq)
  if (new Set(seqs).size !== seqs.length) faults.push(`${tab.tabId}: a call was charged twice`)
  if (sum !== tab.claimed) faults.push(`${tab.tabId}: charged ${sum}, claimed ${tab.claimed}`)
  // Nothing is paid to claim calls at the end that cost nothing.
  if (kept.slice(tab.receipts).some(({ receipt }) => receipt.charged > 0n))
    faults.push(`${tab.tabId}: ${kept.length} receipts, ${tab.receipts} mined`)
  for (const { from, to, root } of tab.claims)
    if (rootOf(kept.slice(from - 1, to)) !== root) faults.push(`${tab.tabId}: the root of ${from} to ${to}`)
  for (const answer of seen) {
    const { signature } = kept[answer.receipt.n - 1] ?? {}
    if (signature !== answer.receipt.signature)
      faults.push(`${tab.tabId}: the receipt ${answer.receipt.n} of call ${answer.seq} is not in the store`)
  }
  return faults
}

function rootOf(receipts: readonly SignedTabReceipt[]): string {
  return tabReceiptsRoot(receipts.map(({ receipt }) => encodeTabReceipt(receipt)))
}
