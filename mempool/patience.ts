import type { Address, TxId } from '../consensus/primitives/ids.ts'
import type { Turn } from './account-queue.ts'
import type { MempoolEntry } from './entry.ts'
import type { Pool } from './pool.ts'

/** How long transactions have waited that no block can take: they pay nothing for their place, so they lose it in time. */
export class Patience {
  /** Height at which each was first seen so. */
  #since = new Map<TxId, number>()

  /** Looks at the pool under a new head; the entries that have waited for as many blocks as are allowed. */
  exhausted(
    pool: Pool,
    { height, blocksMax, turnOf }: { height: number; blocksMax: number; turnOf: (address: Address) => Turn },
  ): readonly MempoolEntry[] {
    const unminable = [...pool.accounts()].flatMap(([address, queue]) => queue.unminable(turnOf(address)))
    this.#since = new Map(unminable.map(({ tx }) => [tx.txId, this.#since.get(tx.txId) ?? height]))
    return unminable.filter(({ tx }) => height - (this.#since.get(tx.txId) ?? height) >= blocksMax)
  }
}
