import type { SigningNetwork } from '../../consensus/crypto/signing.ts'
import type { TabSignature } from '../../consensus/crypto/tab-signing.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import type { Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { StateView } from '../../consensus/state/view.ts'
import { voucherMessage } from '../../consensus/tx/tab-messages.ts'
import type { Voucher } from '../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { TABS } from './tab-records.ts'

/** The signature of a voucher, by the voucher key of its tab. */
export function voucherSignature(
  network: SigningNetwork,
  { tabId, voucherKey, voucher }: { readonly tabId: TxId; readonly voucherKey: Hash; readonly voucher: Voucher },
): TabSignature {
  return { key: fromHex(voucherKey), message: voucherMessage(network, tabId, voucher), signature: voucher.signature }
}

/**
 * The signatures of all vouchers in claims of tabs that are open, or opened among these transactions. Yields those of one transaction
 * after the other.
 */
export function* voucherSignatures(
  transactions: readonly Transaction[],
  view: StateView,
  network: SigningNetwork,
): Iterable<readonly TabSignature[]> {
  const opened = new Map<TxId, Hash>()
  for (const { txId, body } of transactions) {
    if (body.kind === 'tab_open') opened.set(txId, body.payload.voucherKey)
    if (body.kind !== 'tab_claim') continue
    yield body.payload.entries.flatMap(({ tabId, voucher: [voucher] }) => {
      if (voucher === undefined) return []
      const voucherKey = view.get(TABS, tabId)?.voucherKey ?? opened.get(tabId)
      return voucherKey === undefined ? [] : [voucherSignature(network, { tabId, voucherKey, voucher })]
    })
  }
}
