import { merkleRoot, TRANSACTION_TREE, WITNESS_TREE } from '../crypto/merkle.ts'
import { copy, fromHex, toHex } from '../primitives/bytes.ts'
import { byteList, byteVector, container, decode, encode, list } from '../primitives/codec.ts'
import { fault } from '../primitives/fault.ts'
import type { Hash } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { decodeTransactionView, encodeTransaction, type Transaction, TX_BYTES_MAX } from '../tx/transaction.ts'
import { decodeHeader, HEADER_BYTES, type SealedHeader } from './header.ts'

/** The byte limit is reached long before. */
export const BLOCK_TRANSACTIONS_MAX = 1024
/** An offset in an SSZ list of variable-size elements. */
const OFFSET_BYTES = 4

const BLOCK = container('Block', {
  header: byteVector(HEADER_BYTES),
  transactions: list(byteList(TX_BYTES_MAX), BLOCK_TRANSACTIONS_MAX),
})

/** A header and its transactions. */
export interface Block extends SealedHeader {
  readonly transactions: readonly Transaction[]
}

/** Wire bytes of a block. */
export function encodeBlock(block: Block): Uint8Array {
  return encode(BLOCK, { header: block.bytes, transactions: block.transactions.map(encodeTransaction) })
}

/**
 * The transactions are views on one copy of the bytes, so take a single one out with {@link detached} before keeping
 * it. Whether the body matches the header is checked separately.
 */
export function decodeBlock(bytes: Uint8Array): Result<Block> {
  const raw = decode(BLOCK, copy(bytes))
  if (!raw.ok) return fail(fault('block/malformed', { reason: String(raw.fault.detail.reason) }))
  const header = decodeHeader(raw.value.header)
  if (!header.ok) return header
  const transactions: Transaction[] = []
  for (const [index, txBytes] of raw.value.transactions.entries()) {
    const tx = decodeTransactionView(txBytes)
    if (!tx.ok) return fail(fault('block/transaction', { index, reason: tx.fault.code }))
    transactions.push(tx.value)
  }
  return ok({ ...header.value, transactions })
}

/** Wire bytes of the transactions, offsets included. The block limit counts these. */
export function bodySize(transactions: readonly Pick<Transaction, 'size'>[]): number {
  return transactions.reduce((sum, { size }) => sum + size + OFFSET_BYTES, 0)
}

/** {@link bodySize} of encoded transactions. */
export function encodedBodySize(encodings: readonly Uint8Array[]): number {
  return encodings.reduce((sum, { length }) => sum + length + OFFSET_BYTES, 0)
}

/** Bytes that one more transaction adds to a block. */
export function sizeInBlock(tx: Pick<Transaction, 'size'>): number {
  return tx.size + OFFSET_BYTES
}

/** Root over the transaction ids. */
export function transactionsRoot(transactions: readonly Pick<Transaction, 'txId'>[]): Hash {
  return toHex(
    merkleRoot(
      TRANSACTION_TREE,
      transactions.map(({ txId }) => fromHex(txId)),
    ),
  ) as Hash
}

/** Root over the witness transaction ids. */
export function witnessRoot(transactions: readonly Pick<Transaction, 'wtxId'>[]): Hash {
  return toHex(
    merkleRoot(
      WITNESS_TREE,
      transactions.map(({ wtxId }) => fromHex(wtxId)),
    ),
  ) as Hash
}
