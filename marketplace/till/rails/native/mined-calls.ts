import type { Chain } from '../../../../consensus/chain/chain.ts'
import { OUTCOME_OK } from '../../../../consensus/ledger/outcome.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import type { BlockId, TxId } from '../../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../../consensus/primitives/lru.ts'
import type { TxBody } from '../../../../consensus/tx/transaction.ts'

/** A mined transaction and what became of it. */
export interface MinedCall {
  readonly blockId: BlockId
  readonly body: TxBody
  /** Outcome number of its receipt. */
  readonly outcome: number
}

const BLOCKS_KEPT = 8

/** Mined transactions by block, read once a block: many calls ask for the payments of the newest one at the same time. */
export class MinedCalls {
  readonly #chain: Chain
  readonly #blocks = new LruMap<BlockId, ReadonlyMap<TxId, MinedCall>>(BLOCKS_KEPT)

  constructor(chain: Chain) {
    this.#chain = chain
  }

  /** A transaction of the best chain, undefined if it is not mined there. */
  find(txId: TxId): MinedCall | undefined {
    const { database } = this.#chain
    const location = database.location(txId)
    const blockId = location === undefined ? undefined : database.idAt(location.height)
    if (blockId === undefined) return undefined
    const known = this.#blocks.get(blockId) ?? this.#read(blockId)
    return known.get(txId)
  }

  #read(blockId: BlockId): ReadonlyMap<TxId, MinedCall> {
    const { database } = this.#chain
    const outcomes = new Map<TxId, number>()
    for (const receipt of (database.receipts(blockId) ?? []).map(decodeReceipt)) {
      if (receipt.type === 'transaction') outcomes.set(receipt.txId, receipt.code)
    }
    const calls = new Map<TxId, MinedCall>()
    for (const { txId, body } of database.block(blockId)?.transactions ?? []) {
      calls.set(txId, { blockId, body, outcome: outcomes.get(txId) ?? OUTCOME_OK })
    }
    this.#blocks.set(blockId, calls)
    return calls
  }
}
