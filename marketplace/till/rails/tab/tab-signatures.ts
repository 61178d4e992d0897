import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { SignatureBackend } from '../../../../consensus/crypto/hybrid.ts'
import { verifyTabSignature } from '../../../../consensus/crypto/tab-signing.ts'
import { fromHex } from '../../../../consensus/primitives/bytes.ts'
import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { encodeTabReceipt, tabQueryMessage, tabReceiptMessage } from '../../../../consensus/tx/tab-messages.ts'
import { tabLife } from '../../../ledger/tab-lives.ts'
import { TABS } from '../../../ledger/tab-records.ts'
import type { Shop } from '../../shop.ts'
import type { BadVouchers } from './bad-vouchers.ts'
import { QUERY_WITHIN_MS } from './settings.ts'
import type { SignedTabReceipt, TabQuery } from './tab-call.ts'
import type { ReceiptSigner } from './tab-receipts.ts'
import type { TabStore } from './tab-store.ts'

/** What signatures about tabs are checked with. */
export interface TabSignatureParts {
  readonly chain: Chain
  readonly shop: Pick<Shop, 'operator'>
  readonly clock: Clock
  readonly backend: Pick<SignatureBackend, 'verifyEd25519'>
  readonly signer: Pick<ReceiptSigner, 'key'>
  readonly store: Pick<TabStore, 'tab' | 'peek'>
}

/**
 * Why a query is not answered; null if the voucher key of its tab signed it just now. A tab that has ended still answers for its receipts.
 */
export function whyNoQuery(
  { chain, shop, clock, backend }: TabSignatureParts,
  { tabId, timeMs, signature }: TabQuery,
  what: 'state' | 'refund',
): Fault | null {
  const open = chain.database.get(TABS, tabId)
  const tab = open ?? (what === 'state' ? tabLife(chain.database, tabId)?.tab : undefined)
  if (tab === undefined) return fault('tabcall/unknown', { tabId })
  const { agentId } = shop.operator
  // The tab of another seller could never be claimed here, however often this node tried.
  if (tab.agentId !== agentId) return fault('tabcall/foreign', { tabId, got: tab.agentId, expected: agentId })
  const nowMs = clock.now()
  if (Math.abs(nowMs - timeMs) > QUERY_WITHIN_MS)
    return fault('tabcall/query-time', { nowMs, withinMs: QUERY_WITHIN_MS })
  const message = tabQueryMessage(chain.network, { tabId, what, timeMs })
  const isGood = verifyTabSignature(backend, { key: fromHex(tab.voucherKey), message, signature })
  return isGood ? null : fault('tabcall/query-signature', { tabId })
}

/** `n` of a receipt of this seller that is newer than its store and its claims; null if it is not, or if it is not looked at. */
export async function lostReceipt(
  { chain, store, backend, signer, bad }: TabSignatureParts & { readonly bad: BadVouchers },
  { tabId, from }: { readonly tabId: TxId; readonly from: Holder | undefined },
  { receipt, signature }: SignedTabReceipt,
): Promise<number | null> {
  const tab = chain.database.get(TABS, tabId)
  const { n } = receipt
  const isNewer = (known: { readonly receipts: number } | undefined): boolean => n > (known?.receipts ?? 0)
  if (tab === undefined || receipt.tabId !== tabId || !isNewer(tab) || !isNewer(store.peek(tabId))) return null
  // A tab under another receipt key takes no calls anyway.
  if (tab.receiptKey !== signer.key || bad.waitMs(tabId, from) > 0) return null
  const message = tabReceiptMessage(chain.network, encodeTabReceipt(receipt))
  if (!verifyTabSignature(backend, { key: fromHex(signer.key), message, signature: fromHex(signature) })) {
    bad.bad(tabId, from)
    return null
  }
  const row = await store.tab(tabId)
  return isNewer(row) && n > (row?.lostReceipt ?? 0) ? n : null
}
