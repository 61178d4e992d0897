import { readFile } from 'node:fs/promises'
import { byteList, decode, encode, list } from '../../consensus/primitives/codec.ts'
import { decodeTransaction, encodeTransaction, type Transaction, TX_BYTES_MAX } from '../../consensus/tx/transaction.ts'
import { writeFileAtomically } from './atomic-file.ts'

/** At least as many as `mempool.count-max` allows. */
const TRANSACTIONS_MAX = 2 ** 20
const FILE = list(byteList(TX_BYTES_MAX), TRANSACTIONS_MAX)

/** Keeps waiting transactions over a restart. */
export async function saveMempool(path: string, transactions: readonly Transaction[]): Promise<void> {
  await writeFileAtomically(path, encode(FILE, transactions.map(encodeTransaction)))
}

/**
 * Transactions kept by {@link saveMempool}; they are validated like any others, so none may come before those that it waits
 * for. A missing or damaged file is empty.
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
 * Every account keeps its places in the order of arrival, and its transactions take them by nonce: one that was replaced or
 * given back arrived after its followers.
 */
function inNonceOrder(arrived: readonly Transaction[]): readonly Transaction[] {
  const byNonce = arrived.toSorted((a, b) => (a.body.nonce < b.body.nonce ? -1 : a.body.nonce > b.body.nonce ? 1 : 0))
  const turns = Map.groupBy(byNonce, ({ body }) => body.sender)
  return arrived.flatMap(({ body }) => turns.get(body.sender)?.shift() ?? [])
}
