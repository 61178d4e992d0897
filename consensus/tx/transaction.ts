import { ACCOUNT_KEYS_BYTES_MAX } from '../crypto/account-keys.ts'
import { taggedHashHex } from '../crypto/hash.ts'
import { POLICY_KEYS_MAX, SIGNATURE_BYTES_MAX } from '../crypto/schemes.ts'
import { assert } from '../primitives/assert.ts'
import { copy, fromHex } from '../primitives/bytes.ts'
import {
  byteList,
  container,
  decode,
  encode,
  hex32,
  list,
  uint8,
  uint32,
  uint64,
  type ValueOf,
} from '../primitives/codec.ts'
import { fault } from '../primitives/fault.ts'
import type { Address, TxId, WtxId } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { kindOfNumber, PAYLOAD_BYTES_MAX, type PayloadOf, TX_KINDS, type TxKind } from './kinds.ts'

/** The only transaction version. */
export const TX_VERSION = 1
/** Longest memo. */
export const MEMO_BYTES_MAX = 128
/** Longest witness: room for eight keys and eight signatures of scheme 2. */
export const WITNESS_BYTES_MAX = 48 * 1024

const BODY = container('TransactionBody', {
  version: uint8,
  chainId: uint32,
  sender: hex32<Address>(),
  nonce: uint64,
  kind: uint8,
  maxFeeRate: uint64,
  tip: uint64,
  validUntil: uint32,
  memo: byteList(MEMO_BYTES_MAX),
  payload: byteList(PAYLOAD_BYTES_MAX),
})

const SIGNATURE = container('Signature', { keyIndex: uint8, bytes: byteList(SIGNATURE_BYTES_MAX) })
const WITNESS = container('Witness', {
  keys: byteList(ACCOUNT_KEYS_BYTES_MAX),
  signatures: list(SIGNATURE, POLICY_KEYS_MAX),
})

const TRANSACTION = container('Transaction', { body: byteList(BODY.maxSize), witness: byteList(WITNESS_BYTES_MAX) })

/** Longest transaction on the wire. */
export const TX_BYTES_MAX = TRANSACTION.maxSize

type RawBody = ValueOf<typeof BODY>

/** `kind` determines the type of `payload`. */
export type TxBody<K extends TxKind = TxKind> = Omit<RawBody, 'kind' | 'payload'> &
  { [P in K]: { readonly kind: P; readonly payload: PayloadOf<P> } }[K]

/** `keys` is empty unless the nonce is 0. */
export type Witness = ValueOf<typeof WITNESS>

/** Keeps the encoded parts, so that hashing need not encode again. */
export interface Transaction<K extends TxKind = TxKind> {
  readonly body: TxBody<K>
  readonly witness: Witness
  readonly bodyBytes: Uint8Array
  readonly witnessBytes: Uint8Array
  readonly txId: TxId
  readonly wtxId: WtxId
  readonly size: number
}

/** H(tag, body bytes): the id that signatures cover and that names the transaction. */
export function transactionId(bodyBytes: Uint8Array): TxId {
  return taggedHashHex<TxId>('transactionId', bodyBytes)
}

/** H(tag, txid, witness bytes): identifies the exact bytes, for relay and caches. */
export function witnessTransactionId(txId: TxId, witnessBytes: Uint8Array): WtxId {
  return taggedHashHex<WtxId>('witnessId', fromHex(txId), witnessBytes)
}

/** Encodes a body; the result is what {@link transactionId} hashes. */
export function encodeBody(body: TxBody): Uint8Array {
  const { number, payload } = TX_KINDS[body.kind]
  return encode(BODY, { ...body, kind: number, payload: encode(payload as never, body.payload as never) })
}

/** Encodes a witness. */
export function encodeWitness(witness: Witness): Uint8Array {
  return encode(WITNESS, witness)
}

/** Wire bytes of a transaction. */
export function encodeTransaction({
  bodyBytes,
  witnessBytes,
}: Pick<Transaction, 'bodyBytes' | 'witnessBytes'>): Uint8Array {
  return encode(TRANSACTION, { body: bodyBytes, witness: witnessBytes })
}

/** The transaction has its own copy of the bytes. */
export function decodeTransaction(bytes: Uint8Array): Result<Transaction> {
  return decodeTransactionView(copy(bytes))
}

/** {@link decodeTransaction} without the copy: the transaction is a view that keeps all the bytes alive. */
export function decodeTransactionView(bytes: Uint8Array): Result<Transaction> {
  const split = decode(TRANSACTION, bytes)
  return split.ok ? assembleTransaction(split.value.body, split.value.witness) : split
}

/** A copy with its own memory: a transaction that is kept must not keep its whole block alive. */
export function detached(tx: Transaction): Transaction {
  const own = decodeTransaction(encodeTransaction(tx))
  assert(own.ok, 'a decoded transaction does not decode again')
  return own.value
}

/** Decodes a transaction from its two parts, as blocks and stores hold them. */
export function assembleTransaction(bodyBytes: Uint8Array, witnessBytes: Uint8Array): Result<Transaction> {
  const body = decodeBody(bodyBytes)
  if (!body.ok) return body
  const witness = decode(WITNESS, witnessBytes)
  if (!witness.ok) return witness
  const txId = transactionId(bodyBytes)
  const wtxId = witnessTransactionId(txId, witnessBytes)
  const size = bodyBytes.length + witnessBytes.length + TRANSACTION_OFFSETS_BYTES
  return ok({ body: body.value, witness: witness.value, bodyBytes, witnessBytes, txId, wtxId, size })
}

/** The two SSZ offsets before body and witness. */
const TRANSACTION_OFFSETS_BYTES = 8

/** Decodes a body and its payload. */
export function decodeBody(bytes: Uint8Array): Result<TxBody> {
  const raw = decode(BODY, bytes)
  if (!raw.ok) return raw
  const kind = kindOfNumber(raw.value.kind)
  if (kind === undefined) return fail(fault('tx/kind', { kind: raw.value.kind }))
  const payload = decode<unknown>(TX_KINDS[kind].payload, raw.value.payload)
  if (!payload.ok) return fail(fault('tx/payload', { kind, reason: String(payload.fault.detail.reason) }))
  return ok({ ...raw.value, kind, payload: payload.value } as TxBody)
}
