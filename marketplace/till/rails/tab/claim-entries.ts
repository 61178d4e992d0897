import { type Amount, amount } from '../../../../consensus/primitives/amount.ts'
import { fromHex, ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { Hash, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import { encodeTabReceipt, type TabReceipt, tabReceiptsRoot } from '../../../../consensus/tx/tab-messages.ts'
import { CLAIM_SERVICES_MAX, type ClaimEntry } from '../../../../consensus/tx/tab-payloads.ts'
import type { HeldVoucher } from './tab-call.ts'

/** Most receipts of one entry: their encodings are in memory at once. */
export const ENTRY_RECEIPTS_MAX = 10_000

/** What the chain has of a tab, and the voucher for what comes now. */
export interface ClaimFrom {
  readonly tabId: TxId
  readonly deposit: Amount
  readonly claimed: Amount
  readonly receipts: number
  readonly voucher: HeldVoucher | null
}

/**
 * Gathers the receipts of one tab, in the order of `n`, into claim entries. A new entry begins with a ninth service, so each entry
 * covers receipts without a gap, and its root is over exactly these.
 */
export class EntryBuilder {
  readonly #tab: ClaimFrom
  readonly #entries: ClaimEntry[] = []
  readonly #services = new Map<ServiceId, { calls: number; amount: bigint }>()
  #items: Uint8Array[] = []
  #failed = 0
  #claimed: Amount
  #receipts: number

  constructor(tab: ClaimFrom) {
    this.#tab = tab
    this.#claimed = tab.claimed
    this.#receipts = tab.receipts
  }

  /** The `n` of the receipt that comes next. */
  get next(): number {
    return this.#receipts + 1
  }

  /** How many entries there would be if the claim ended here. */
  get size(): number {
    return this.#entries.length + (this.#items.length > 0 ? 1 : 0)
  }

  /** Takes the next receipt. False if it is not the next one, or would raise what is claimed above the voucher or the deposit. */
  add(receipt: TabReceipt): boolean {
    const { n, serviceId, outcome, charged, cumulative } = receipt
    if (n !== this.next || cumulative !== this.#claimed + charged || cumulative > this.#ceiling) return false
    const isFull = !this.#services.has(serviceId) && this.#services.size === CLAIM_SERVICES_MAX
    if ((outcome === 0 && isFull) || this.#items.length === ENTRY_RECEIPTS_MAX) this.#cut()
    if (outcome === 0) {
      const { calls, amount: sum } = this.#services.get(serviceId) ?? { calls: 0, amount: 0n }
      this.#services.set(serviceId, { calls: calls + 1, amount: sum + charged })
    } else this.#failed += 1
    this.#items.push(encodeTabReceipt(receipt))
    this.#claimed = cumulative
    this.#receipts = n
    return true
  }

  /** All entries. With `close` the last one ends the tab; it claims nothing if there was no receipt. */
  entries(close: boolean): readonly ClaimEntry[] {
    if (this.#items.length > 0) this.#cut()
    if (!close) return this.#entries
    const last = this.#entries.pop() ?? this.#entry()
    return [...this.#entries, { ...last, close: true }]
  }

  /** A reorganisation may have taken a top-up that calls were charged on. Then what the deposit covers is claimed all the same. */
  get #ceiling(): bigint {
    const { voucher, claimed, deposit } = this.#tab
    const signed = voucher !== null && voucher.ceiling > claimed ? voucher.ceiling : claimed
    return signed < deposit ? signed : deposit
  }

  #cut(): void {
    this.#entries.push(this.#entry())
    this.#services.clear()
    this.#items = []
    this.#failed = 0
  }

  #entry(): ClaimEntry {
    const { tabId, voucher } = this.#tab
    const moved = [...this.#services.values()].some((service) => service.amount > 0n)
    return {
      tabId,
      voucher: voucher === null || !moved ? [] : [{ ...voucher, signature: fromHex(voucher.signature) }],
      claimed: this.#claimed,
      close: false,
      receipts: this.#receipts,
      failed: this.#failed,
      root: this.#items.length === 0 ? (ZERO_HEX_32 as Hash) : tabReceiptsRoot(this.#items),
      services: [...this.#services].map(([serviceId, { calls, amount: sum }]) => ({
        ...{ serviceId, calls },
        amount: amount(sum),
      })),
    }
  }
}
