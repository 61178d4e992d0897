import type { Chain } from '../../consensus/chain/chain.ts'
import type { SignatureBackend } from '../../consensus/crypto/hybrid.ts'
import { verifyTabSignature } from '../../consensus/crypto/tab-signing.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import { voucherMessage } from '../../consensus/tx/tab-messages.ts'
import { TABS } from '../../marketplace/ledger/tab-records.ts'
import type {
  SignedTabReceipt,
  TabPaidCall,
  TabPayment,
  TabPrice,
  TabQuery,
  TabState,
} from '../../marketplace/till/rails/tab/tab-call.ts'
import type { Unpriced } from '../../marketplace/till/rails/tab/tab-price.ts'
import type { TabRail } from '../../marketplace/till/rails/tab/tab-rail.ts'
import { isAnswered, type TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import type { Shop } from '../../marketplace/till/shop.ts'
import type { TabDesk } from '../node/tab-desk.ts'

/** What the counter works with. */
export interface CounterParts {
  readonly rail: TabRail
  readonly chain: Chain
  readonly shop: Shop
  readonly store: Pick<TabStore, 'call'>
  readonly backend: Pick<SignatureBackend, 'verifyEd25519'>
}

/** The rail of tabs with what only its doors need: bounds for questions of strangers, and cheap looks at what is known. */
export class TabCounter implements TabDesk {
  readonly #parts: CounterParts

  constructor(parts: CounterParts) {
    this.#parts = parts
  }

  get till(): TabRail['till'] {
    return this.#parts.rail.till
  }

  priceOf(serviceId: ServiceId): TabPrice | Unpriced {
    return this.#parts.rail.priceOf(serviceId)
  }

  stateOf(tabId: TxId): Promise<TabState | null> {
    return this.#parts.rail.stateOf(tabId)
  }

  receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]> {
    return this.#parts.rail.receiptsFrom(tabId, n, limit)
  }

  verifyQuery(query: TabQuery, what: 'state' | 'refund', from: Holder): Fault | null {
    const { tabId } = query
    const { rail } = this.#parts
    const waitMs = rail.signatures.waitMs(tabId, from)
    if (waitMs > 0) return fault('tabcall/failing', { seconds: Math.ceil(waitMs / 1_000) })
    const refusal = rail.verifyQuery(query, what)
    if (refusal === null) rail.signatures.good(tabId, from)
    if (refusal?.code === 'tabcall/query-signature') rail.signatures.bad(tabId, from)
    return refusal
  }

  async refund(query: TabQuery, from: Holder): Promise<Result<TabState>> {
    const refusal = this.verifyQuery(query, 'refund', from)
    return refusal === null ? this.#parts.rail.refund(query) : fail(refusal)
  }

  isRegular(tabId: TxId, from: Holder): boolean {
    return this.#parts.rail.signatures.isRegular(tabId, from)
  }

  knows(tabId: TxId): boolean {
    const { chain, shop } = this.#parts
    return chain.database.get(TABS, tabId)?.agentId === shop.operator.agentId
  }

  async hasTaken({ tabId, voucher }: TabPayment): Promise<boolean> {
    const { chain, store } = this.#parts
    const tab = chain.database.get(TABS, tabId)
    if (tab === undefined) return false
    const call = await store.call(tabId, voucher.seq)
    if (call?.voucher.signature !== toHex(voucher.signature)) return false
    if (!isAnswered(call)) return true
    const { n, charged } = call.receipt.receipt
    return charged > 0n && n > tab.receipts
  }

  isOfPayer({ serviceId, request, payment, from }: TabPaidCall): boolean {
    const { chain, backend, rail } = this.#parts
    const { tabId, voucher } = payment
    const tab = chain.database.get(TABS, tabId)
    if (tab === undefined || rail.signatures.waitMs(tabId, from) > 0) return false
    const { context } = rail.identify({ serviceId, request, payment })
    const message = voucherMessage(chain.network, tabId, { ...voucher, context })
    const part = { key: fromHex(tab.voucherKey), message, signature: voucher.signature }
    const isGood = verifyTabSignature(backend, part)
    if (isGood) rail.signatures.good(tabId, from)
    else rail.signatures.bad(tabId, from)
    return isGood
  }
}
