import type { TxId } from '../../../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../../../consensus/primitives/lru.ts'
import { SEQ_FIRST, SEQ_WINDOW } from '../../tab/seq-window.ts'
import type { HeldVoucher } from '../../tab/tab-call.ts'
import { isAnswered, type TabRow, type TabStore } from '../../tab/tab-store.ts'

/** The newest voucher that was charged among so many receipts. */
interface Known {
  readonly receipts: number
  readonly voucher: HeldVoucher
}

const CHANNELS_MAX = 10_000

/**
 * The vouchers of calls that were charged. One of a call that was not charged pays for another call, and its sender need not be the payer. So
 * it goes neither to the chain, where all can read it, nor to a client, which may be a stranger with a voucher that it read there.
 */
export class ChargedVouchers {
  readonly #store: Pick<TabStore, 'call'>
  readonly #known = new LruMap<TxId, Known>(CHANNELS_MAX)

  constructor(store: Pick<TabStore, 'call'>) {
    this.#store = store
  }

  /** That of the newest such call. Null if none of the calls since the last final claim was charged. */
  async newest(row: TabRow): Promise<HeldVoucher | null> {
    const { tabId, receipts, charged, finalReceipts } = row
    const known = this.#known.get(tabId)
    if (known !== undefined && known.receipts >= receipts) return known.voucher
    const found = await this.#find(row, known?.receipts ?? finalReceipts, ({ ceiling }) => ceiling >= charged)
    const voucher = found ?? known?.voucher ?? null
    if (voucher !== null) this.#known.set(tabId, { receipts, voucher })
    return voucher
  }

  /** The newest one with a ceiling below this, since the last final claim. */
  below(row: TabRow, most: bigint): Promise<HeldVoucher | null> {
    return this.#find(row, row.finalReceipts, ({ ceiling }) => ceiling < most)
  }

  async #find(
    { tabId, seqMax }: TabRow,
    afterReceipt: number,
    fits: (voucher: HeldVoucher) => boolean,
  ): Promise<HeldVoucher | null> {
    // Numbers of calls that a crash lost stay unused.
    for (let seq = seqMax, missing = 0; seq >= SEQ_FIRST && missing < SEQ_WINDOW; seq--) {
      const call = await this.#store.call(tabId, seq)
      if (call === undefined || !isAnswered(call)) {
        missing += 1
        continue
      }
      const { receipt } = call.receipt
      if (receipt.n <= afterReceipt) return null
      if (receipt.charged > 0n && fits(call.voucher)) return call.voucher
    }
    return null
  }
}
