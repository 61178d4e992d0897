import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import {
  type MerkleProof,
  type MerkleTree,
  merkleProof,
  RECEIPT_TREE,
  TRANSACTION_TREE,
} from '../../consensus/crypto/merkle.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import { decodeReceipt, type ReceiptOf } from '../../consensus/ledger/receipt.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { type Closure, closureOf } from '../ledger/closures.ts'
import { ESCROWS } from '../ledger/escrow.ts'

/** An item of a block with its Merkle proof against the root in the block's header. */
export interface ItemProof {
  readonly entry: BlockEntry
  readonly tree: 'transactions' | 'receipts'
  readonly item: Uint8Array
  readonly proof: MerkleProof
}

/** A mined transaction with its receipt, and the proofs of both. */
export interface MinedFacts {
  readonly entry: BlockEntry
  readonly tx: Transaction
  readonly receipt: ReceiptOf<'transaction'>
  readonly proofs: readonly [ItemProof, ItemProof]
}

/** The escrow is open, or closed in one of three ways. `none`: this node knows of no escrow. */
export type CallState = 'none' | 'open' | Closure['how']

/** What the chain records about a paid call. */
export interface CallFacts {
  readonly payment: MinedFacts
  readonly state: CallState
  readonly closure: Closure | undefined
  /** Undefined while the escrow is open, or if this node knows of none. */
  readonly closedIn: BlockEntry | undefined
  /**
   * Proofs of the operator's receipt and of its outcome. If consensus refunded the call, the proof of that refund
   * alone. Empty if the call is not closed, or if this node does not have the data.
   */
  readonly closingProofs: readonly ItemProof[]
}

/** Undefined if the best chain does not contain the transaction, or if this node lacks its data. */
export function minedFacts({ database }: ChainReader, txId: TxId): MinedFacts | undefined {
  const location = database.location(txId)
  const id = location === undefined ? undefined : database.idAt(location.height)
  const entry = id === undefined ? undefined : database.entry(id)
  if (location === undefined || entry === undefined) return undefined
  const tx = database.transactionAt(entry.id, location.index)
  const outcome = receiptItem(database.receipts(entry.id) ?? [], 'transaction', txId)
  if (tx === undefined || outcome === undefined) return undefined
  const mined = transactionItem({ database }, entry, location.index)
  return { entry, tx, receipt: outcome.receipt as ReceiptOf<'transaction'>, proofs: [mined, outcome.proofIn(entry)] }
}

/** The state is `none` if the transaction paid no call, or if this node knows of none. */
export function callFacts(chain: ChainReader, payment: MinedFacts): CallFacts {
  const { txId, body } = payment.tx
  const { database } = chain
  const none = { payment, closure: undefined, closedIn: undefined, closingProofs: [] }
  if (body.kind !== 'agent_invoke' || payment.receipt.code !== OUTCOME_OK) return { ...none, state: 'none' }
  if (database.get(ESCROWS, txId) !== undefined) return { ...none, state: 'open' }
  const closure = closureOf(database, txId)
  const id = closure === undefined ? undefined : database.idAt(closure.height)
  const closedIn = id === undefined ? undefined : database.entry(id)
  if (closure === undefined || closedIn === undefined) return { ...none, state: 'none' }
  const closingProofs =
    closure.receiptTxId === null
      ? refundProof(chain, closedIn, txId)
      : (minedFacts(chain, closure.receiptTxId)?.proofs ?? [])
  return { payment, state: closure.how, closure, closedIn, closingProofs }
}

function refundProof({ database }: ChainReader, entry: BlockEntry, txId: TxId): readonly ItemProof[] {
  const found = receiptItem(database.receipts(entry.id) ?? [], 'refund', txId)
  return found === undefined ? [] : [found.proofIn(entry)]
}

function transactionItem({ database }: Pick<ChainReader, 'database'>, entry: BlockEntry, index: number): ItemProof {
  const ids = (database.transactionIds(entry.id) ?? []).map(fromHex)
  return proofOf(TRANSACTION_TREE, ids, index, { entry, tree: 'transactions' })
}

function receiptItem(encoded: readonly Uint8Array[], type: 'transaction' | 'refund', txId: TxId) {
  const receipts = encoded.map(decodeReceipt)
  const index = receipts.findIndex((receipt) => receipt.type === type && receipt.txId === txId)
  const receipt = receipts[index]
  if (receipt === undefined) return undefined
  const proofIn = (entry: BlockEntry): ItemProof => proofOf(RECEIPT_TREE, encoded, index, { entry, tree: 'receipts' })
  return { receipt, proofIn }
}

function proofOf(
  tree: MerkleTree,
  items: readonly Uint8Array[],
  index: number,
  of: Pick<ItemProof, 'entry' | 'tree'>,
): ItemProof {
  return { ...of, item: items[index] as Uint8Array, proof: merkleProof(tree, items, index) }
}
