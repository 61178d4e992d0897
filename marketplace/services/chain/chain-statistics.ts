import { executedFrom } from '../../../consensus/chain/adoption.ts'
import type { BlockEntry } from '../../../consensus/chain/layout.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { assert } from '../../../consensus/primitives/assert.ts'

/** A window of the best chain that ends at its head. `blocks` does not count `from`. */
export interface ChainWindow {
  readonly from: BlockEntry
  readonly blocks: number
  readonly seconds: number
  /** Hashes per second that the blocks after `from` took by their targets; 0 if no time passed. */
  readonly hashrate: number
  /** Transactions of `from` and the blocks after it; null if this node did not execute all those blocks. */
  readonly transactions: number | null
}

/** The block of the best chain at an existing height. */
export function entryAt({ database }: ChainReader, height: number): BlockEntry {
  const id = database.idAt(height)
  const entry = id === undefined ? undefined : database.entry(id)
  assert(entry !== undefined, `the best chain has no block at height ${height}`)
  return entry
}

/** The last `ms` of chain time. It starts at block 1 at the earliest, the first block whose time a miner set. */
export function windowOf(chain: ChainReader, ms: number): ChainWindow {
  const head = chain.head
  const from = entryAt(chain, firstSince(chain, head.header.timeMs - ms))
  const seconds = (head.header.timeMs - from.header.timeMs) / 1_000
  const work = head.totalWork - from.totalWork
  const before = chain.database.entry(from.header.parent)
  return {
    from,
    blocks: head.header.height - from.header.height,
    seconds,
    hashrate: seconds > 0 ? Number(work) / seconds : 0,
    transactions:
      from.header.height < executedFrom(chain.database)
        ? null
        : head.totalTransactions - (before?.totalTransactions ?? 0),
  }
}

/** The lowest height from 1 on whose block is not before the time. Block times ascend. */
function firstSince(chain: ChainReader, timeMs: number): number {
  const top = chain.head.header.height
  let low = Math.min(1, top)
  let high = top
  while (low < high) {
    const middle = (low + high) >> 1
    if (entryAt(chain, middle).header.timeMs >= timeMs) high = middle
    else low = middle + 1
  }
  return low
}
