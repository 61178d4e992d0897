import { type MatchedBlock, matchBody } from '../../../consensus/block/check.ts'
import type { SealedHeader } from '../../../consensus/block/header.ts'
import { decodeTransactionView, type Transaction } from '../../../consensus/tx/transaction.ts'

/** The block of a good header with the transactions that a peer gave for it. Undefined if they are not the header's. */
export function blockOf(header: SealedHeader, encoded: readonly Uint8Array[]): MatchedBlock | undefined {
  const transactions: Transaction[] = []
  for (const bytes of encoded) {
    const tx = decodeTransactionView(bytes)
    if (!tx.ok) return undefined
    transactions.push(tx.value)
  }
  const matched = matchBody(header, transactions)
  return matched.ok ? matched.value : undefined
}
