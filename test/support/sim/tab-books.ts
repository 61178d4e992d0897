import type { ChainDatabase } from '../../../consensus/chain/database.ts'
import { OUTCOME_OK } from '../../../consensus/ledger/outcome.ts'
import { decodeReceipt, type ReceiptOf } from '../../../consensus/ledger/receipt.ts'
import type { BlockId, TxId } from '../../../consensus/primitives/ids.ts'
import type { ClaimEntry, TabOpen } from '../../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'

/** What the blocks of the best chain did to one tab. */
export interface TabBook {
  readonly tabId: TxId
  readonly opening: TabOpen
  readonly expiresAt: number
  deposit: bigint
  claimed: bigint
  /** 0 until the payer asked to close. */
  closesAt: number
  readonly ends: { readonly height: number; readonly how: 'claim' | 'return'; readonly returned: bigint }[]
}

/** A tab's due height. */
export function dueOf({ closesAt, expiresAt }: Pick<TabBook, 'closesAt' | 'expiresAt'>): number {
  return closesAt === 0 ? expiresAt : closesAt
}

/** A block of the best chain, as far as a bidder cares. */
interface BookedBlock {
  readonly id: BlockId
  readonly height: number
  readonly baseFee: bigint
  readonly weightUsed: number
  /** The lowest rate that any of its transactions paid. */
  readonly lowestRate: bigint
}

/** The books of all tabs, kept from the mined blocks alone and without the ledger's code. */
export class TabBooks {
  readonly tabs = new Map<TxId, TabBook>()
  readonly blocks: BookedBlock[] = []
  readonly wrong: string[] = []
  /** Sums of all tabs. */
  readonly sums = { deposited: 0n, paid: 0n, burned: 0n, returned: 0n }

  constructor(database: ChainDatabase, height: number) {
    for (let at = 1; at <= height; at++) this.#read(database, at)
  }

  #read(database: ChainDatabase, height: number): void {
    const id = database.idAt(height) as BlockId
    const block = database.block(id)
    const receipts = (database.receipts(id) ?? []).map(decodeReceipt)
    const outcomes = receipts.filter((one) => one.type === 'transaction')
    const { baseFee, weightUsed } = block?.header ?? { baseFee: 0n, weightUsed: 0 }
    const rates = outcomes.map(({ rate }) => rate)
    const lowestRate = rates.reduce((low, rate) => (rate < low ? rate : low), rates[0] ?? baseFee)
    this.blocks.push({ id, height, baseFee, weightUsed, lowestRate })
    for (const receipt of receipts) {
      if (receipt.type !== 'tab_return') continue
      const { tabId, amount } = receipt
      this.sums.returned += amount
      this.#end(tabId, { height, how: 'return', returned: amount })
    }
    const byId = new Map(block?.transactions.map((tx) => [tx.txId, tx]))
    for (const receipt of outcomes) if (receipt.code === OUTCOME_OK) this.#see(byId.get(receipt.txId), receipt, height)
  }

  #see(tx: Transaction | undefined, receipt: ReceiptOf<'transaction'>, height: number): void {
    if (tx === undefined) return
    const { kind, payload } = tx.body
    if (kind === 'tab_open') {
      const { deposit, term } = payload
      this.sums.deposited += deposit
      const fresh = { deposit, claimed: 0n, closesAt: 0, ends: [] }
      this.tabs.set(tx.txId, { tabId: tx.txId, opening: payload, expiresAt: height + term, ...fresh })
    } else if (kind === 'tab_fund') {
      this.sums.deposited += payload.amount
      this.#tab(payload.tabId).deposit += payload.amount
    } else if (kind === 'tab_close') {
      const tab = this.#tab(payload.tabId)
      tab.closesAt = Math.min(tab.expiresAt, height + tab.opening.closeDelay)
    } else if (kind === 'tab_claim') this.#claim(payload.entries, receipt, height)
  }

  #claim(entries: readonly ClaimEntry[], { entries: codes, amounts }: ReceiptOf<'transaction'>, height: number): void {
    const [paid = 0n, burned = 0n, returned = 0n] = amounts
    this.sums.paid += paid
    this.sums.burned += burned
    this.sums.returned += returned
    let moved = 0n
    let rest = 0n
    for (const [i, { tabId, claimed, close }] of entries.entries()) {
      if (codes[i] !== OUTCOME_OK) continue
      const tab = this.#tab(tabId)
      moved += claimed - tab.claimed
      tab.claimed = claimed
      if (!close) continue
      rest += tab.deposit - claimed
      this.#end(tabId, { height, how: 'claim', returned: tab.deposit - claimed })
    }
    if (moved !== paid + burned) this.wrong.push(`height ${height}: a claim moved ${moved}, not ${paid} + ${burned}`)
    if (rest !== returned) this.wrong.push(`height ${height}: a claim returned ${returned}, not ${rest}`)
  }

  #end(tabId: TxId, end: TabBook['ends'][number]): void {
    const tab = this.#tab(tabId)
    const due = dueOf(tab)
    tab.ends.push(end)
    const isInTime = end.how === 'return' ? end.height === due : end.height < due
    if (!isInTime) this.wrong.push(`tab ${tabId}: ${end.how} at ${end.height}, due at ${due}`)
    if (tab.claimed + end.returned !== tab.deposit)
      this.wrong.push(`tab ${tabId}: ${tab.claimed} claimed and ${end.returned} returned of ${tab.deposit}`)
  }

  #tab(tabId: TxId): TabBook {
    const tab = this.tabs.get(tabId)
    if (tab === undefined) throw new Error(`the chain moved ${tabId}, which it never opened`)
    return tab
  }

  /** What is wrong once every tab should have ended. */
  faults(): readonly string[] {
    const { deposited, paid, burned, returned } = this.sums
    const ends = [...this.tabs.values()]
      .filter((tab) => tab.ends.length !== 1)
      .map((tab) => `tab ${tab.tabId} ended ${tab.ends.length} times`)
    const isWhole = paid + burned + returned === deposited
    return [...this.wrong, ...ends, ...(isWhole ? [] : [`${paid} + ${burned} + ${returned} is not ${deposited}`])]
  }
}
