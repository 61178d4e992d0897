import { type Block, transactionsRoot, witnessRoot } from '../../../consensus/block/block.ts'
import { decodeHeader } from '../../../consensus/block/header.ts'
import { assert } from '../../../consensus/primitives/assert.ts'
import { decodeTransactionView, type Transaction } from '../../../consensus/tx/transaction.ts'
import type { BranchHeader } from './proven-branch.ts'

/** The block of a proven header with the transactions that a peer gave for it, or undefined where they are not its own. */
export function blockOf(header: BranchHeader, encoded: readonly Uint8Array[]): Block | undefined {
  const sealed = decodeHeader(header.bytes)
  assert(sealed.ok, 'a proven header decodes')
  const transactions: Transaction[] = []
  for (const bytes of encoded) {
    const tx = decodeTransactionView(bytes)
    // Whoever has the block decoded it, so that this is no block of anybody.
    if (!tx.ok) return undefined
    transactions.push(tx.value)
  }
  const { transactionsRoot: txRoot, witnessRoot: wtxRoot } = sealed.value.header
  if (transactionsRoot(transactions) !== txRoot || witnessRoot(transactions) !== wtxRoot) return undefined
  return { ...sealed.value, transactions }
}
