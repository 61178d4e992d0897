import type { ChainIndex, IndexEntry } from '../../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import type { DatabaseReader } from '../../consensus/chain/reader.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import { decodeReceipt } from '../../consensus/ledger/receipt.ts'
import { fromHex, toHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { container, decodeOwn, encode, hex32, uint8, uint32 } from '../../consensus/primitives/codec.ts'
import type { BlockId, Hash, TxId } from '../../consensus/primitives/ids.ts'
import { OUTCOME_DELIVERED } from '../../consensus/tx/payloads.ts'

const HOW = ['delivered', 'failed', 'expired'] as const

const CLOSURE = container('Closure', {
  how: uint8,
  height: uint32,
  receiptTxId: hex32<TxId>(),
  resultHash: hex32<Hash>(),
  durationMs: uint32,
})

/** How an escrow ended: by a receipt, or `expired` by consensus at its deadline. */
export interface Closure {
  readonly how: (typeof HOW)[number]
  readonly height: number
  readonly receiptTxId: TxId | null
  /** Null unless the call was delivered. */
  readonly resultHash: Hash | null
  /** As the operator claims it; null if consensus refunded the escrow. */
  readonly durationMs: number | null
}

/** By the id of the payment. */
export const CLOSURES: ChainIndex = { name: 'closures', prefix: 0x01, entriesOf }

/** How the escrow of a payment ended; undefined if it is open or unknown. */
export function closureOf(database: DatabaseReader, txId: TxId): Closure | undefined {
  const bytes = database.indexed(CLOSURES, fromHex(txId))
  return bytes === undefined ? undefined : decodeClosure(bytes)
}

/** How a closed escrow ended, in words. A node that began from a snapshot may not know. */
export function endText(database: DatabaseReader, txId: TxId): string {
  const closure = closureOf(database, txId)
  if (closure === undefined) return 'it was refunded or settled before'
  const { how, height, receiptTxId } = closure
  if (how === 'expired') return `it was refunded at its deadline, in the block at height ${height}`
  const done = how === 'failed' ? 'refunded' : 'settled'
  return `it was ${done} in the transaction ${receiptTxId} at height ${height}`
}

function decodeClosure(bytes: Uint8Array): Closure {
  const { how, height, receiptTxId, resultHash, durationMs } = decodeOwn(CLOSURE, bytes)
  const expired = HOW[how] === 'expired'
  return {
    how: HOW[how] as Closure['how'],
    height,
    receiptTxId: expired ? null : receiptTxId,
    resultHash: HOW[how] === 'delivered' ? resultHash : null,
    durationMs: expired ? null : durationMs,
  }
}

/** Payments whose escrows a block closed. The block must be or have been on the best chain. */
export function closedBy(database: DatabaseReader, id: BlockId): readonly TxId[] {
  return closuresIn(database, id).map(({ txId }) => txId)
}

/** In the order of the block's receipts. For the block see {@link closedBy}. */
export function closuresIn(database: DatabaseReader, id: BlockId): readonly (Closure & { readonly txId: TxId })[] {
  const block = database.block(id)
  const receipts = database.receipts(id)
  if (block === undefined || receipts === undefined) return []
  const entries = entriesOf({ block, receipts: receipts.map(decodeReceipt) })
  return entries.map(({ key, value }) => ({ txId: toHex(key) as TxId, ...decodeClosure(value) }))
}

function entriesOf({ block, receipts }: Pick<ConnectedBlock, 'block' | 'receipts'>): readonly IndexEntry[] {
  const { height } = block.header
  const transactions = new Map(block.transactions.map((tx) => [tx.txId, tx]))
  return receipts.flatMap((receipt) => {
    if (receipt.type === 'refund') return [closure(receipt.txId, { how: HOW.indexOf('expired'), height })]
    if (receipt.type !== 'transaction' || receipt.entries.length === 0) return []
    const body = transactions.get(receipt.txId)?.body
    if (body?.kind !== 'agent_receipt') return []
    return body.payload.entries.flatMap(({ txId, outcome, resultHash, durationMs }, i) => {
      if (receipt.entries[i] !== OUTCOME_OK) return []
      const how = outcome === OUTCOME_DELIVERED ? HOW.indexOf('delivered') : HOW.indexOf('failed')
      return [closure(txId, { how, height, receiptTxId: receipt.txId, resultHash, durationMs })]
    })
  })
}

function closure(
  txId: TxId,
  fields: { how: number; height: number; receiptTxId?: TxId; resultHash?: Hash; durationMs?: number },
): IndexEntry {
  const absent = { receiptTxId: ZERO_HEX_32 as TxId, resultHash: ZERO_HEX_32 as Hash, durationMs: 0 }
  return { key: fromHex(txId), value: encode(CLOSURE, { ...absent, ...fields }) }
}
