import { executedFrom } from '../../consensus/chain/adoption.ts'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { decodeReceipt, type Receipt, type ReceiptOf } from '../../consensus/ledger/receipt.ts'
import type { BlockId, TxId } from '../../consensus/primitives/ids.ts'
import type { TxKind } from '../../consensus/tx/kinds.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'

/** A block of the best chain with what its transactions came to. Genesis has neither transactions nor receipts. */
export interface BlockFacts {
  readonly entry: BlockEntry
  readonly transactions: readonly Transaction[]
  readonly receipts: readonly Receipt[]
  /** What it burned and minted; undefined for genesis, whose state is given. */
  readonly close: ReceiptOf<'close'> | undefined
}

/** The best chain's block at a height, undefined where there is none. */
export function blockAt({ database }: ChainReader, height: number): BlockFacts | undefined {
  const id = database.idAt(height)
  const entry = id === undefined ? undefined : database.entry(id)
  if (entry === undefined) return undefined
  const receipts = (database.receipts(entry.id) ?? []).map(decodeReceipt)
  const close = receipts.find((receipt) => receipt.type === 'close')
  return { entry, transactions: database.transactions(entry.id) ?? [], receipts, close }
}

/** Height of a block of the best chain, undefined for any other id. */
export function heightOnBestChain({ database }: ChainReader, id: BlockId): number | undefined {
  const entry = database.entry(id)
  return entry !== undefined && database.isCanonical(entry) ? entry.header.height : undefined
}

/** What each transaction of a block came to. */
export function outcomesOf({ receipts }: Pick<BlockFacts, 'receipts'>): ReadonlyMap<TxId, ReceiptOf<'transaction'>> {
  return new Map(receipts.flatMap((receipt) => (receipt.type === 'transaction' ? [[receipt.txId, receipt]] : [])))
}

/** How many transactions of each kind there are, kinds in the order of their names; absent ones are left out. */
export function kindCounts(transactions: readonly Transaction[]): Readonly<Partial<Record<TxKind, number>>> {
  const counts = new Map<TxKind, number>()
  for (const { body } of transactions) counts.set(body.kind, (counts.get(body.kind) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** How far a reading of the newest blocks goes back. */
export interface BlockBounds {
  readonly blocks: number
  /** No further block is read once this many transactions were. */
  readonly transactions: number
}

/** Transactions after which others get their turn. */
const STRETCH = 200

/**
 * The newest blocks from height 1 on within the bounds, newest first, at least one if there is one; none that this node did not
 * execute, of which it knows no receipts. To be read within one reading: after every few hundred transactions others get their turn.
 */
export async function newestBlocks(chain: ChainReader, bounds: BlockBounds): Promise<readonly BlockFacts[]> {
  const top = chain.head.header.height
  const blocks: BlockFacts[] = []
  let [read, paused] = [0, 0]
  const first = Math.max(1, executedFrom(chain.database), top - bounds.blocks + 1)
  for (let height = top; height >= first && read < bounds.transactions; height--) {
    const block = blockAt(chain, height)
    // A reading whose head has moved meanwhile is begun anew.
    if (block === undefined) break
    read += block.transactions.length
    blocks.push(block)
    if (read - paused < STRETCH) continue
    await new Promise((resolve) => setTimeout(resolve, 0))
    paused = read
  }
  return blocks
}
