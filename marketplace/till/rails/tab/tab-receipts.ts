import type { SigningNetwork } from '../../../../consensus/crypto/signing.ts'
import { add, subtractProven } from '../../../../consensus/primitives/amount.ts'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import type { Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import { encodeTabReceipt, type TabReceipt, tabReceiptMessage } from '../../../../consensus/tx/tab-messages.ts'
import { withUsed } from './seq-window.ts'
import type { SignedTabReceipt } from './tab-call.ts'
import type { AnsweredTabRow, EndedTabCall, SealCall, TabRow } from './tab-store.ts'

/** Signs receipts with the receipt key of the seller. */
export interface ReceiptSigner {
  /** The public key, as tabs have it. */
  readonly key: Hash
  sign(message: Uint8Array): Uint8Array
}

/** `outcome` of a receipt. */
export const TAB_OUTCOMES = { delivered: 0, failed: 1 } as const

const DURATION_MS_MAX = 0xffffffff

/** Makes receipts, see {@link SealCall}. */
export function sealer(signer: ReceiptSigner, network: SigningNetwork): SealCall {
  return (tab, ended) => {
    const { call, charge, result, finishedAtMs, reason, message } = ended
    const receipt = receiptOf(tab, ended)
    const signed = { receipt, signature: toHex(signer.sign(tabReceiptMessage(network, encodeTabReceipt(receipt)))) }
    const { request: _, startedAtMs: __, runs: ___, isRepeatable: ____, ...kept } = call
    const state = result === null ? 'failed' : 'delivered'
    const answered: AnsweredTabRow = { ...kept, state, receipt: signed, result, finishedAtMs, reason, message }
    return { tab: after(tab, { seq: call.seq, price: BigInt(call.price), charge, signed }), answered }
  }
}

function receiptOf(tab: TabRow, { call, charge, result, resultHash, finishedAtMs }: EndedTabCall): TabReceipt {
  const { tabId, seq, serviceId, voucher, startedAtMs = finishedAtMs } = call
  return {
    // Receipts name a channel of an EVM network without the 0x of its id.
    tabId: tabId.replace(/^0x/, '') as TxId,
    seq,
    n: tab.receipts + 1,
    serviceId,
    context: voucher.context,
    resultHash,
    outcome: result === null ? TAB_OUTCOMES.failed : TAB_OUTCOMES.delivered,
    charged: charge,
    cumulative: add(tab.charged, charge),
    // The clock of a machine can be set back.
    durationMs: Math.min(DURATION_MS_MAX, Math.max(0, finishedAtMs - startedAtMs)),
    timeMs: finishedAtMs,
  }
}

interface Sealed {
  readonly seq: number
  readonly price: bigint
  readonly charge: TabRow['charged']
  readonly signed: SignedTabReceipt
}

function after(tab: TabRow, { seq, price, charge, signed }: Sealed): TabRow {
  return {
    ...tab,
    charged: add(tab.charged, charge),
    reserved: subtractProven(tab.reserved, price as TabRow['reserved']),
    receipts: tab.receipts + 1,
    uncharged: tab.uncharged + (charge === 0n ? 1 : 0),
    window: withUsed(tab.window, seq),
    lastReceipt: signed,
  }
}
