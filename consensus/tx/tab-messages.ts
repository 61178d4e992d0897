import { taggedHash, taggedHashHex } from '../crypto/hash.ts'
import { type MerkleTree, merkleRoot } from '../crypto/merkle.ts'
import type { SigningNetwork } from '../crypto/signing.ts'
import { tabMessage } from '../crypto/tab-signing.ts'
import { concat, fromHex, toHex, uint32LE, uintLE } from '../primitives/bytes.ts'
import { container, encode, hex32, safeUint64, uint8, uint32, uint128, type ValueOf } from '../primitives/codec.ts'
import type { BlockId, Hash, TxId } from '../primitives/ids.ts'
import { serviceIdCodec } from './payloads.ts'
import type { Voucher } from './tab-payloads.ts'

const AMOUNT_BYTES = 16
const NONCE_BYTES = 8
const hash = hex32<Hash>()

/** What the voucher key signs: H(tab-voucher, tabId || seq u32 || ceiling u128 || context). */
export function voucherMessage(
  network: SigningNetwork,
  tabId: TxId,
  { seq, ceiling, context }: Omit<Voucher, 'signature'>,
): Uint8Array {
  const parts = [fromHex(tabId), uint32LE(seq), uintLE(ceiling, AMOUNT_BYTES), fromHex(context)]
  return tabMessage('voucher', network, taggedHash('tabVoucher', concat(...parts)))
}

/**
 * The receipt of one call on a tab. `n` counts the receipts of the tab from 1, failed calls included; `cumulative` is the
 * sum charged so far. `outcome`: 0 delivered, 1 failed. `durationMs` and `timeMs` are the seller's word.
 */
const TAB_RECEIPT = container('TabReceipt', {
  tabId: hex32<TxId>(),
  seq: uint32,
  n: uint32,
  serviceId: serviceIdCodec,
  context: hash,
  resultHash: hash,
  outcome: uint8,
  charged: uint128,
  cumulative: uint128,
  durationMs: uint32,
  timeMs: safeUint64,
})

/** Receipt of one call on a tab. */
export type TabReceipt = ValueOf<typeof TAB_RECEIPT>

/** Over the receipts of one claim, in the order of `n`. */
export const TAB_RECEIPT_TREE: MerkleTree = {
  leaf: 'tabReceiptLeaf',
  node: 'tabReceiptNode',
  root: 'tabReceiptRoot',
}

/** The item of a receipt in its tree. */
export function encodeTabReceipt(receipt: TabReceipt): Uint8Array {
  return encode(TAB_RECEIPT, receipt)
}

/** What the receipt key signs: the receipt's leaf. */
export function tabReceiptMessage(network: SigningNetwork, item: Uint8Array): Uint8Array {
  return tabMessage('receipt', network, taggedHash('tabReceiptLeaf', item))
}

/** Root that a claim has for its receipts; `items` are their encodings in the order of `n`. */
export function tabReceiptsRoot(items: readonly Uint8Array[]): Hash {
  return toHex(merkleRoot(TAB_RECEIPT_TREE, items)) as Hash
}

/** Link of a tab's claims: H(tab-chain, chain before || root || receipts u32 || claimed u128), totals after the claim. */
export function tabChain(
  before: Hash,
  { root, receipts, claimed }: { readonly root: Hash; readonly receipts: number; readonly claimed: bigint },
): Hash {
  return taggedHashHex('tabChain', fromHex(before), fromHex(root), uint32LE(receipts), uintLE(claimed, AMOUNT_BYTES))
}

/** What a payer can ask of its seller about a tab, signed by the voucher key. */
export const TAB_QUERIES = { state: 1, refund: 2 } as const

/** Message of a query: H(tab-query, tabId || query u8 || time u64 in ms). */
export function tabQueryMessage(
  network: SigningNetwork,
  query: { readonly tabId: TxId; readonly what: keyof typeof TAB_QUERIES; readonly timeMs: number },
): Uint8Array {
  const { tabId, what, timeMs } = query
  const time = uintLE(BigInt(timeMs), NONCE_BYTES)
  return tabMessage('query', network, taggedHash('tabQuery', fromHex(tabId), Uint8Array.of(TAB_QUERIES[what]), time))
}

/**
 * Seed of the voucher key of the tab that the wallet opens with its transaction of this nonce: a wallet that is set up
 * again finds its tabs on chain, and derives their keys.
 */
export function voucherSeed(walletSeed: Uint8Array, genesis: BlockId, nonce: bigint): Uint8Array {
  return taggedHash('seedTab', fromHex(genesis), uintLE(nonce, NONCE_BYTES), walletSeed)
}
