import { assert } from '../primitives/assert.ts'
import { decodeOwn } from '../primitives/codec.ts'
import type { BlockId, TxId } from '../primitives/ids.ts'
import {
  assembleTransaction,
  decodeBody,
  encodeTransaction,
  type Transaction,
  type TxBody,
  transactionId,
} from '../tx/transaction.ts'
import type { KeyValueStore } from './key-value.ts'
import { BYTES_LIST, KEYS } from './layout.ts'

type Reader = Pick<KeyValueStore, 'get'>

/** Transactions of a block, if the store has them. */
export function storedTransactions(store: Reader, id: BlockId): readonly Transaction[] | undefined {
  const parts = partsOf(store, id)
  return parts?.bodies.map((body, i) => mustAssemble(body, parts.witnesses[i] as Uint8Array))
}

/** Wire bytes of a block's transactions, or of those at `indexes` that it has. */
export function storedEncodings(
  store: Reader,
  id: BlockId,
  indexes?: readonly number[],
): readonly Uint8Array[] | undefined {
  const parts = partsOf(store, id)
  if (parts === undefined) return undefined
  const { bodies, witnesses } = parts
  const encoded = (bodyBytes: Uint8Array | undefined, i: number): readonly Uint8Array[] =>
    bodyBytes === undefined ? [] : [encodeTransaction({ bodyBytes, witnessBytes: witnesses[i] as Uint8Array })]
  return indexes === undefined ? bodies.flatMap(encoded) : indexes.flatMap((i) => encoded(bodies[i], i))
}

/** The other transactions are not decoded. */
export function storedTransactionAt(store: Reader, id: BlockId, index: number): Transaction | undefined {
  const parts = partsOf(store, id)
  const body = parts?.bodies[index]
  return body && mustAssemble(body, parts?.witnesses[index] as Uint8Array)
}

/** Works without witnesses. */
export function storedTransactionIds(store: Reader, id: BlockId): readonly TxId[] | undefined {
  return bodiesOf(store, id)?.map(transactionId)
}

/** Works without witnesses. */
export function storedBodies(store: Reader, id: BlockId): readonly TxBody[] | undefined {
  return bodiesOf(store, id)?.map(mustDecode)
}

/** Works without witnesses. */
export function storedBodyAt(store: Reader, id: BlockId, index: number): TxBody | undefined {
  const bytes = bodiesOf(store, id)?.[index]
  return bytes && mustDecode(bytes)
}

function mustDecode(bytes: Uint8Array): TxBody {
  const body = decodeBody(bytes)
  assert(body.ok, 'a stored transaction does not decode')
  return body.value
}

function bodiesOf(store: Reader, id: BlockId): readonly Uint8Array[] | undefined {
  const bodies = store.get(KEYS.bodies(id))
  return bodies && decodeOwn(BYTES_LIST, bodies)
}

interface Parts {
  readonly bodies: readonly Uint8Array[]
  readonly witnesses: readonly Uint8Array[]
}

function partsOf(store: Reader, id: BlockId): Parts | undefined {
  const bodies = store.get(KEYS.bodies(id))
  const witnesses = store.get(KEYS.witnesses(id))
  if (bodies === undefined || witnesses === undefined) return undefined
  return { bodies: decodeOwn(BYTES_LIST, bodies), witnesses: decodeOwn(BYTES_LIST, witnesses) }
}

function mustAssemble(body: Uint8Array, witness: Uint8Array): Transaction {
  const tx = assembleTransaction(body, witness)
  assert(tx.ok, 'a stored transaction does not decode')
  return tx.value
}
