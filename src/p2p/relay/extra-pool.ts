import type { WtxId } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'

/** Bounds of a shelf. */
interface ShelfLimits {
  readonly countMax: number
  readonly bytesMax: number
}

const MIB = 1_048_576
/** What left the mempool, mined ones too: a rival of the last block holds much the same transactions. */
const LEFT: ShelfLimits = { countMax: 2_048, bytesMax: 8 * MIB }
/** What this node's fee floor refused and another's may not: anybody can fill it for nothing, so it stands apart. */
const REFUSED: ShelfLimits = { countMax: 512, bytesMax: 2 * MIB }

/** The newest transactions within bounds. */
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

/** What could tell of transactions that leave. */
interface RemovalSource {
  onRemoval(listener: (tx: Transaction) => void): void
}

/**
 * Transactions that are not in the mempool and yet may be in the next block: those that left it not long ago, and those
 * that were too cheap for it.
 */
export class ExtraPool {
  readonly #left = new Shelf(LEFT)
  readonly #refused = new Shelf(REFUSED)

  constructor(mempool: RemovalSource) {
    mempool.onRemoval((tx) => this.#left.put(tx))
  }

  /** Keeps one that was refused for what it pays. */
  refused(tx: Transaction): void {
    this.#refused.put(tx)
  }

  /** Whether a transaction was in the mempool not long ago: mined since, most likely. */
  hasLeft(wtxId: WtxId): boolean {
    return this.#left.has(wtxId)
  }

  transactions(): readonly Transaction[] {
    return [...this.#left.values(), ...this.#refused.values()]
  }
}
