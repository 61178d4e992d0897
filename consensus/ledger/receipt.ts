import { taggedHash } from '../crypto/hash.ts'
import { merkleRoot, RECEIPT_TREE } from '../crypto/merkle.ts'
import { concat, equal, toHex } from '../primitives/bytes.ts'
import {
  container,
  decodeOwn,
  encode,
  hex32,
  list,
  uint8,
  uint16,
  uint32,
  uint64,
  uint128,
  type ValueOf,
} from '../primitives/codec.ts'
import type { Address, Hash, TxId } from '../primitives/ids.ts'
import { RECEIPT_ENTRIES_MAX } from '../tx/payloads.ts'

/** Most amounts in one receipt. */
export const RECEIPT_AMOUNTS_MAX = 4

/**
 * `code` 0 is success, else an outcome number. `entries` has the outcome number of each entry of an `agent_receipt`.
 * `amounts` are those that the chain computes, such as the output of a swap.
 */
const TRANSACTION = container('TransactionReceipt', {
  txId: hex32<TxId>(),
  code: uint16,
  weight: uint32,
  rate: uint64,
  fee: uint128,
  burned: uint128,
  entries: list(uint8, RECEIPT_ENTRIES_MAX),
  amounts: list(uint128, RECEIPT_AMOUNTS_MAX),
})

/** At the start of a block: the reward of the earlier block `height` reached its miner. */
const REWARD = container('RewardReceipt', { height: uint32, miner: hex32<Address>(), amount: uint128 })

/** At the start of a block: an escrow that was open at its deadline went back to its caller. */
const REFUND = container('RefundReceipt', { txId: hex32<TxId>(), caller: hex32<Address>(), amount: uint128 })

/** At the start of a block: what was left of a tab at its end went back to its payer. */
const TAB_RETURN = container('TabReturnReceipt', { tabId: hex32<TxId>(), payer: hex32<Address>(), amount: uint128 })

/**
 * At the end of a block: the base fees burned, the subsidy minted, the stakers' share of it, and the miner's reward,
 * which includes the tips.
 */
const CLOSE = container('CloseReceipt', {
  burned: uint128,
  subsidy: uint128,
  stakingShare: uint128,
  miner: hex32<Address>(),
  reward: uint128,
})

/** The closed table of receipt types. A receipt is its type byte, then the SSZ of its fields. */
const RECEIPT_TYPES = {
  transaction: { number: 1, codec: TRANSACTION },
  reward: { number: 2, codec: REWARD },
  refund: { number: 3, codec: REFUND },
  close: { number: 4, codec: CLOSE },
  tab_return: { number: 5, codec: TAB_RETURN },
} as const

type ReceiptTypes = typeof RECEIPT_TYPES
type ReceiptType = keyof ReceiptTypes

/** The outcome of one transaction or one automatic effect. */
export type Receipt = { [K in ReceiptType]: { readonly type: K } & ValueOf<ReceiptTypes[K]['codec']> }[ReceiptType]
/** Receipt of one type. */
export type ReceiptOf<K extends ReceiptType> = Extract<Receipt, { type: K }>

/** Consensus bytes of a receipt. */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  const { number, codec } = RECEIPT_TYPES[receipt.type]
  return concat(Uint8Array.of(number), encode(codec as never, receipt as never))
}

/** Decodes a receipt that this node stored or a proof verified; throws if it is damaged. */
export function decodeReceipt(bytes: Uint8Array): Receipt {
  const type = (Object.keys(RECEIPT_TYPES) as ReceiptType[]).find((name) => RECEIPT_TYPES[name].number === bytes[0])
  if (type === undefined) throw new RangeError(`unknown receipt type ${bytes[0]}`)
  const fields = decodeOwn<object>(RECEIPT_TYPES[type].codec as never, bytes.subarray(1))
  return { ...fields, type } as Receipt
}

/** Only the type and the transaction id are read. */
export function isReceiptOf(bytes: Uint8Array, txId: Uint8Array): boolean {
  return bytes[0] === RECEIPT_TYPES.transaction.number && equal(bytes.subarray(1, 1 + txId.length), txId)
}

/** Only the type is read. */
export function isTabReturn(bytes: Uint8Array): boolean {
  return bytes[0] === RECEIPT_TYPES.tab_return.number
}

/** Root over the receipts of a block, in order. */
export function receiptsRoot(receipts: readonly Uint8Array[]): Hash {
  return toHex(merkleRoot(RECEIPT_TREE, receipts)) as Hash
}

/** Hash of a service's result, as in receipts on chain. */
export function resultHash(resultBytes: Uint8Array): Hash {
  return toHex(taggedHash('result', resultBytes)) as Hash
}
