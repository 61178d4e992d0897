import { hourOf } from '../../amm/candles.ts'
import { executedFrom } from '../../consensus/chain/adoption.ts'
import { prunedFault } from '../../consensus/chain/pruned.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { closureOf } from '../ledger/closures.ts'
import { ESCROWS } from '../ledger/escrow.ts'
import { DAY_HOURS, hourNow } from './trading.ts'

/** Why this node cannot know the fate of a transaction outside the mempool; null if it can. */
export function transactionGap({ database }: Pick<ChainReader, 'database'>, txId: TxId): Fault | null {
  const location = database.location(txId)
  const id = location === undefined ? undefined : database.idAt(location.height)
  if (location === undefined || id === undefined) return beforeFault(executedFrom(database))
  const held = database.transactionAt(id, location.index) !== undefined && database.receipts(id) !== undefined
  return held ? null : prunedFault(database, location.height)
}

/** Why this node cannot know how a paid call ended; null if it can. See {@link transactionGap}. */
export function callGap(chain: Pick<ChainReader, 'database'>, txId: TxId): Fault | null {
  const { database } = chain
  const gap = transactionGap(chain, txId)
  if (gap !== null || database.get(ESCROWS, txId) !== undefined) return gap
  const closure = closureOf(database, txId)
  // Without a closure in the index there was no call, unless the index began after the payment.
  if (closure === undefined)
    return (database.location(txId)?.height ?? 0) < database.indexedFrom ? beforeFault(database.indexedFrom) : null
  return blockGap(chain, closure.height)
}

/** Why this node lacks a block's transactions and receipts; null if it has them, or if there is no such block. */
export function blockGap({ database }: Pick<ChainReader, 'database'>, height: number): Fault | null {
  const id = database.idAt(height)
  if (id === undefined) return null
  if (height > 0 && height < executedFrom(database)) return beforeFault(executedFrom(database))
  const held = database.transactions(id) !== undefined && database.receipts(id) !== undefined
  return held ? null : prunedFault(database, height)
}

/** Whether this node executed its head's block, which every query about the newest blocks requires. */
export function executedHead({ database, head }: ChainReader): boolean {
  return head.header.height >= executedFrom(database)
}

/** First hour, counted from 1970, for which this node knows all trades and candles; 0 if it knows all. */
export function knownFromHour({ database }: Pick<ChainReader, 'database'>): number {
  const from = database.indexedFrom
  if (from === 0) return 0
  const id = database.idAt(from - 1)
  const last = id === undefined ? database.head : (database.entry(id) ?? database.head)
  return hourOf(last.header.timeMs) + 1
}

/** Whether this node knows all trades of the last {@link DAY_HOURS} hours. */
export function knowsDay(chain: ChainReader): boolean {
  return hourNow(chain) + 1 - knownFromHour(chain) >= DAY_HOURS
}

function beforeFault(from: number): Fault | null {
  return from === 0 ? null : fault('storage/past-unknown', { from })
}
