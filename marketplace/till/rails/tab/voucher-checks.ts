import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { TabSignature } from '../../../../consensus/crypto/tab-signing.ts'
import { fromHex } from '../../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import { voucherMessage } from '../../../../consensus/tx/tab-messages.ts'
import { TABS } from '../../../ledger/tab-records.ts'
import type { Identity, Order } from '../../rail.ts'
import type { Shop } from '../../shop.ts'
import type { BadVouchers } from './bad-vouchers.ts'
import { NEW_WINDOW, standingOf } from './seq-window.ts'
import type { TabPaidCall } from './tab-call.ts'
import type { TabStore } from './tab-store.ts'

/** Checks the signature of a tab's key outside the main thread, by the same rules as `verifyTabSignature`. */
export type VerifyLater = (job: TabSignature) => Promise<boolean>

/** What vouchers are checked with. */
export interface VoucherCheckParts {
  readonly chain: Chain
  readonly shop: Pick<Shop, 'operator'>
  readonly store: Pick<TabStore, 'peek'>
  readonly bad: BadVouchers
  /** Absent: vouchers are checked when calls are judged. */
  readonly verifyLater?: VerifyLater
}

type VoucherOrder = Order<TabPaidCall, Identity & { readonly context: Hash }>

/** Vouchers that are checked at once. Those above are checked when their calls are judged, so that a flood is counted as it comes. */
const AT_ONCE = 64

/**
 * Checks vouchers before their calls are judged, so that the main thread goes on meanwhile: the check is the dearest step of a call. Wrong
 * ones are counted here, whatever else is wrong with the call.
 */
export class VoucherChecks {
  readonly #parts: VoucherCheckParts
  readonly #verdicts = new WeakMap<VoucherOrder, boolean>()
  #underWay = 0

  constructor(parts: VoucherCheckParts) {
    this.#parts = parts
  }

  /** Undefined if the voucher of the call was not checked. */
  verdictOn(order: VoucherOrder): boolean | undefined {
    return this.#verdicts.get(order)
  }

  /** Only for calls that may be good: the number is free, and the tab is of this seller. */
  async ahead(order: VoucherOrder): Promise<void> {
    const { chain, shop, store, bad, verifyLater } = this.#parts
    const { tabId, voucher } = order.call.payment
    const tab = chain.database.get(TABS, tabId)
    if (verifyLater === undefined || this.#underWay >= AT_ONCE || tab?.agentId !== shop.operator.agentId) return
    const { from } = order.call
    const isFree = standingOf(store.peek(tabId)?.window ?? NEW_WINDOW, voucher.seq) === 'free'
    if (!isFree || bad.waitMs(tabId, from) > 0) return
    const message = voucherMessage(chain.network, tabId, { ...voucher, context: order.identity.context })
    this.#underWay += 1
    try {
      const isGood = await verifyLater({ key: fromHex(tab.voucherKey), message, signature: voucher.signature })
      this.#verdicts.set(order, isGood)
      if (isGood) bad.good(tabId, from)
      else bad.bad(tabId, from)
    } finally {
      this.#underWay -= 1
    }
  }
}
