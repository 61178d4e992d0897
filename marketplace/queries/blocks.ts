import { executedFrom } from '../../consensus/chain/adoption.ts'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { decodeReceipt, type Receipt, type ReceiptOf } from '../../consensus/ledger/receipt.ts'
import type { BlockId, TxId } from '../../consensus/primitives/ids.ts'
import type { TxKind } from '../../consensus/tx/kinds.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'

/** A block of the best chain with its transactions and receipts. Genesis has neither. */
export interface BlockFacts {
  readonly entry: BlockEntry
  readonly transactions: readonly Transaction[]
  readonly receipts: readonly Receipt[]
  /** Subsidy, reward and burned base fees. Undefined for genesis, or if this node does not have the receipts. */
  readonly close: ReceiptOf<'close'> | undefined
}

/** Transactions and receipts that this node does not have are empty lists. */
export function blockAt({ database }: ChainReader, height: number): BlockFacts | undefined {
  const id = database.idAt(height)
  const entry = id === undefined ? undefined : database.entry(id)
  if (entry === undefined) return undefined
  const receipts = (database.receipts(entry.id) ?? []).map(decodeReceipt)
  const close = receipts.find((receipt) => receipt.type === 'close')
  return { entry, transactions: database.transactions(entry.id) ?? [], receipts, close }
}

/** Height of a block of the best chain; undefined for any other id. */
export function heightOnBestChain({ database }: ChainReader, id: BlockId): number | undefined {
  const entry = database.entry(id)
  return entry !== undefined && database.isCanonical(entry) ? entry.header.height : undefined
}

/** The receipts of a block's transactions, by id. */
export function outcomesOf({ receipts }: Pick<BlockFacts, 'receipts'>): ReadonlyMap<TxId, ReceiptOf<'transaction'>> {
  return new Map(receipts.flatMap((receipt) => (receipt.type === 'transaction' ? [[receipt.txId, receipt]] : [])))
}

/** Number of transactions per kind, sorted by kind; kinds without any are left out. */
export function kindCounts(transactions: readonly Transaction[]): Readonly<Partial<Record<TxKind, number>>> {
  const counts = new Map<TxKind, number>()
  for (const { body } of transactions) counts.set(body.kind, (counts.get(body.kind) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Bounds for reading the newest blocks. */
export interface BlockBounds {
  readonly blocks: number
  /** No further block is read after this many transactions. */
  readonly transactions: number
}

/** The reading lets other work run after this many transactions. */
const STRETCH = 200

/**
 * The newest blocks within the bounds, newest first; at least one if any qualifies. Genesis and blocks that this node
 * did not execute are left out, since it has no receipts of them. Call it within `atOneHead`.
 */
export async function newestBlocks(chain: ChainReader, bounds: BlockBounds): Promise<readonly BlockFacts[]> {
  const top = chain.head.header.height
  const blocks: BlockFacts[] = []
  let [read, paused] = [0, 0]
  const first = Math.max(1, executedFrom(chain.database), top - bounds.blocks + 1)
  for (let height = top; height >= first && read < bounds.transactions; height--) {
    const block = blockAt(chain, height)
    // The head has moved, so `atOneHead` will repeat the reading.
    if (block === undefined) break
    read += block.transactions.length
    blocks.push(block)
    if (read - paused < STRETCH) continue
    await new Promise((resolve) => setTimeout(resolve, 0))
    paused = read
  }
  return blocks
}
