import { BLOCK_TRANSACTIONS_MAX, type Block } from '../../../consensus/block/block.ts'
import { decodeHeader, type SealedHeader } from '../../../consensus/block/header.ts'
import { hashPairs, taggedHash } from '../../../consensus/crypto/hash.ts'
import { fromHex, uintLE, writeHex } from '../../../consensus/primitives/bytes.ts'
import { decode, encode } from '../../../consensus/primitives/codec.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import type { BlockId, WtxId } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import { COMPACT_BLOCK, SHORT_ID_BYTES } from '../wire/messages.ts'

/** A decoded compact block whose lengths and indexes fit together. Its prefilled transactions are not decoded yet. */
export interface CompactBlock extends SealedHeader {
  readonly salt: bigint
  /** Transactions of the block, prefilled ones included. */
  readonly count: number
  /** Short ids of the transactions that are not prefilled, in block order. */
  readonly shortIds: readonly number[]
  readonly prefilled: readonly { readonly index: number; readonly transaction: Uint8Array }[]
}

/** What is known of a block's transactions, by index; undefined where one is missing. */
export type Slots = readonly (Transaction | undefined)[]

/** Works out the short ids of many transactions under one key. */
export type ShortIdHasher = (key: Uint8Array, wtxIds: readonly WtxId[]) => readonly number[]

/** Wtxids that are hashed in one go. More would only take more memory. */
const BATCH = 1_024
const WTX_ID_BYTES = 32
const MESSAGE_BYTES = 2 * WTX_ID_BYTES
const messages = new Uint8Array(MESSAGE_BYTES * BATCH)
const hashes = new Uint8Array(WTX_ID_BYTES * BATCH)

/** The key that the short ids of one message are made with. */
export function shortIdKey(block: BlockId, salt: bigint): Uint8Array {
  return taggedHash('shortId', fromHex(block), uintLE(salt, 8))
}

/** Short ids, read as big-endian numbers: the first six bytes of SHA-256(key || wtxid). */
export const shortIdsOf: ShortIdHasher = (key, wtxIds) => {
  const ids: number[] = []
  for (let start = 0; start < wtxIds.length; start += BATCH) {
    const count = Math.min(BATCH, wtxIds.length - start)
    for (let i = 0; i < count; i++) {
      messages.set(key, i * MESSAGE_BYTES)
      writeHex(messages, i * MESSAGE_BYTES + WTX_ID_BYTES, wtxIds[start + i] as WtxId)
    }
    hashPairs(messages.subarray(0, count * MESSAGE_BYTES), hashes.subarray(0, count * WTX_ID_BYTES))
    for (let i = 0; i < count; i++) ids.push(readShortId(hashes, i * WTX_ID_BYTES))
  }
  return ids
}

/** `prefill` says which transactions travel whole. */
export function makeCompactBlock(
  block: Block,
  salt: bigint,
  prefill: (tx: Transaction, index: number) => boolean,
): Uint8Array {
  const whole = block.transactions.map(prefill)
  const named = block.transactions.filter((_, index) => !whole[index])
  const ids = shortIdsOf(
    shortIdKey(block.id, salt),
    named.map(({ wtxId }) => wtxId),
  )
  const shortIds = new Uint8Array(SHORT_ID_BYTES * ids.length)
  for (const [i, id] of ids.entries()) writeShortId(shortIds, i * SHORT_ID_BYTES, id)
  const prefilled = block.transactions.flatMap((tx, index) =>
    whole[index] ? [{ index, transaction: encodeTransaction(tx) }] : [],
  )
  return encode(COMPACT_BLOCK, { header: block.bytes, salt, shortIds, prefilled })
}

/** Decodes a message and checks its form; fault `p2p/malformed`. Byte fields are views on the message. */
export function readCompactBlock(bytes: Uint8Array): Result<CompactBlock> {
  const raw = decode(COMPACT_BLOCK, bytes)
  if (!raw.ok) return fail(malformed(String(raw.fault.detail.reason)))
  const { salt, shortIds, prefilled } = raw.value
  if (shortIds.length % SHORT_ID_BYTES !== 0) return fail(malformed('a piece of a short id'))
  const count = shortIds.length / SHORT_ID_BYTES + prefilled.length
  if (count > BLOCK_TRANSACTIONS_MAX) return fail(malformed('more transactions than a block holds'))
  let last = -1
  for (const { index } of prefilled) {
    if (index <= last || index >= count) return fail(malformed('an index out of order'))
    last = index
  }
  const header = decodeHeader(raw.value.header)
  if (!header.ok) return fail(malformed(String(header.fault.detail.reason)))
  const ids = Array.from({ length: count - prefilled.length }, (_, i) => readShortId(shortIds, i * SHORT_ID_BYTES))
  return ok({ ...header.value, salt, count, shortIds: ids, prefilled })
}

/** Decodes the prefilled transactions, one in each step of the generator; fault `p2p/malformed`. */
export function* openPrefilled({ count, prefilled }: CompactBlock): Generator<void, Result<Slots>> {
  const slots: (Transaction | undefined)[] = Array.from({ length: count }, () => undefined)
  for (const { index, transaction } of prefilled) {
    const tx = decodeTransaction(transaction)
    if (!tx.ok) return fail(malformed(`transaction ${index}: ${tx.fault.code}`))
    slots[index] = tx.value
    yield
  }
  return ok(slots)
}

// A number holds six bytes exactly, and is a cheap key of a map.
function readShortId(bytes: Uint8Array, at: number): number {
  let id = 0
  for (let i = 0; i < SHORT_ID_BYTES; i++) id = id * 256 + (bytes[at + i] as number)
  return id
}

function writeShortId(target: Uint8Array, at: number, id: number): void {
  let rest = id
  for (let i = SHORT_ID_BYTES - 1; i >= 0; i--) {
    target[at + i] = rest % 256
    rest = Math.floor(rest / 256)
  }
}

function malformed(reason: string): Fault {
  return fault('p2p/malformed', { protocol: 'blocks', reason })
}
