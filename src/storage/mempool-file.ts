import { readFile } from 'node:fs/promises'
import { byteList, decode, encode, list } from '../../consensus/primitives/codec.ts'
import { decodeTransaction, encodeTransaction, type Transaction, TX_BYTES_MAX } from '../../consensus/tx/transaction.ts'
import { writeFileAtomically } from './atomic-file.ts'

/** At least the upper bound of `mempool.count-max`. */
const TRANSACTIONS_MAX = 2 ** 20
const FILE = list(byteList(TX_BYTES_MAX), TRANSACTIONS_MAX)

/** Saves waiting transactions for the next start. */
export async function saveMempool(path: string, transactions: readonly Transaction[]): Promise<void> {
  await writeFileAtomically(path, encode(FILE, transactions.map(encodeTransaction)))
}

/**
 * A missing or damaged file gives none. The transactions will be validated again, so each comes after those that it
 * depends on.
 */
export async function loadMempool(path: string): Promise<readonly Transaction[]> {
  const bytes = await readFile(path).catch(() => null)
  if (bytes === null) return []
  const decoded = decode(FILE, new Uint8Array(bytes))
  if (!decoded.ok) return []
  const arrived = decoded.value.flatMap((encoded) => {
    const tx = decodeTransaction(encoded)
    return tx.ok ? [tx.value] : []
  })
  return inNonceOrder(arrived)
}

/**
 * Each account keeps its places in the arrival order, and fills them by nonce: a transaction that was replaced or
 * re-added arrived after its successors.
 */
function inNonceOrder(arrived: readonly Transaction[]): readonly Transaction[] {
  const byNonce = arrived.toSorted((a, b) => (a.body.nonce < b.body.nonce ? -1 : a.body.nonce > b.body.nonce ? 1 : 0))
  const turns = Map.groupBy(byNonce, ({ body }) => body.sender)
  return arrived.flatMap(({ body }) => turns.get(body.sender)?.shift() ?? [])
}
