import type { WtxId } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'

interface ShelfLimits {
  readonly countMax: number
  readonly bytesMax: number
}

const MIB = 1_048_576
/** Transactions that left the mempool, mined ones too: a rival of the last block holds much the same transactions. */
const LEFT: ShelfLimits = { countMax: 2_048, bytesMax: 8 * MIB }
/** Transactions below this node's fee floor, which another node may mine. They cost their sender nothing, so they have their own shelf. */
const REFUSED: ShelfLimits = { countMax: 512, bytesMax: 2 * MIB }

class Shelf {
  readonly #limits: ShelfLimits
  readonly #held = new Map<WtxId, Transaction>()
  #bytes = 0

  constructor(limits: ShelfLimits) {
    this.#limits = limits
  }

  put(tx: Transaction): void {
    this.#drop(tx.wtxId)
    this.#held.set(tx.wtxId, tx)
    this.#bytes += tx.size
    while (this.#held.size > this.#limits.countMax || this.#bytes > this.#limits.bytesMax) {
      this.#drop(this.#held.keys().next().value as WtxId)
    }
  }

  has(wtxId: WtxId): boolean {
    return this.#held.has(wtxId)
  }

  values(): IterableIterator<Transaction> {
    return this.#held.values()
  }

  #drop(wtxId: WtxId): void {
    const tx = this.#held.get(wtxId)
    if (tx === undefined) return
    this.#held.delete(wtxId)
    this.#bytes -= tx.size
  }
}

interface RemovalSource {
  onRemoval(listener: (tx: Transaction) => void): void
}

/** Transactions that are not in the mempool and may still be in the next block: they left it not long ago, or paid too little for it. */
export class ExtraPool {
  readonly #left = new Shelf(LEFT)
  readonly #refused = new Shelf(REFUSED)

  constructor(mempool: RemovalSource) {
    mempool.onRemoval((tx) => this.#left.put(tx))
  }

  refused(tx: Transaction): void {
    this.#refused.put(tx)
  }

  /** Whether a transaction left the mempool not long ago, most likely because it was mined. */
  hasLeft(wtxId: WtxId): boolean {
    return this.#left.has(wtxId)
  }

  transactions(): readonly Transaction[] {
    return [...this.#left.values(), ...this.#refused.values()]
  }
}
