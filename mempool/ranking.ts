import type { Address } from '../consensus/primitives/ids.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'
import { AccountQueue, type MempoolEntry, type Turn } from './account-queue.ts'
import { Heap } from './heap.ts'
import type { Pool } from './pool.ts'

/** What ranks depend on beside the pool. It changes only with the head. */
export interface RankingView {
  readonly headId: string
  readonly baseFee: bigint
  nonceOf(address: Address): bigint
}

/** The last entry of an account. */
export interface Standing {
  readonly entry: MempoolEntry
  readonly rank: bigint
}

/** Outdated heap items that are tolerated beyond twice the number of entries. */
const STALE_PLACES = 64

/**
 * Accounts by the rank of their last entry: the lowest first, and on a tie the latest arrival. A full pool asks for the
 * lowest before each signature check, so the order is kept between questions.
 */
export class Ranking {
  readonly #pool: Pool
  readonly #view: RankingView
  readonly #spared = new Set<Address>()
  readonly #heap = new Heap<Standing>((a, b) =>
    a.rank !== b.rank ? a.rank < b.rank : a.entry.sequence > b.entry.sequence,
  )
  /** The valid heap item of each account. All other items are outdated and skipped. */
  readonly #standings = new Map<Address, Standing>()
  readonly #changed = new Set<Address>()
  #headId: string | undefined
  #baseFee = 0n

  constructor(pool: Pool, view: RankingView) {
    this.#pool = pool
    this.#view = view
    pool.onChange((address) => {
      if (this.#headId !== undefined) this.#changed.add(address)
    })
  }

  spare(address: Address): void {
    this.#spared.add(address)
    this.forget()
  }

  get spared(): ReadonlySet<Address> {
    return this.#spared
  }

  worst(): Standing | undefined {
    this.#refresh()
    for (let top = this.#heap.peek(); top !== undefined; top = this.#heap.peek()) {
      if (this.#standings.get(top.entry.tx.body.sender) === top) return top
      this.#heap.pop()
    }
    return undefined
  }

  /** The nonce must be free. */
  rankOf(tx: Transaction): bigint {
    this.#refresh()
    const { sender } = tx.body
    const queue = this.#pool.account(sender) ?? new AccountQueue()
    return queue.rankOf({ tx }, this.#turnOf(sender))
  }

  /** Frees the computed ranks; the next question may be long in coming. */
  forget(): void {
    this.#headId = undefined
    this.#heap.clear()
    this.#standings.clear()
    this.#changed.clear()
  }

  #refresh(): void {
    const { headId } = this.#view
    const crowded = this.#heap.size > 2 * this.#pool.count + STALE_PLACES
    if (headId !== this.#headId || crowded) {
      this.forget()
      this.#headId = headId
      this.#baseFee = this.#view.baseFee
      for (const [address] of this.#pool.accounts()) this.#place(address)
    }
    for (const address of this.#changed) this.#place(address)
    this.#changed.clear()
  }

  #place(address: Address): void {
    const queue = this.#pool.account(address)
    const entry = queue?.last()
    if (queue === undefined || entry === undefined || this.#spared.has(address)) {
      this.#standings.delete(address)
      return
    }
    const standing = { entry, rank: queue.rankOfLast(this.#turnOf(address)) }
    this.#standings.set(address, standing)
    this.#heap.push(standing)
  }

  #turnOf(address: Address): Turn {
    return { nonce: this.#view.nonceOf(address), baseFee: this.#baseFee }
  }
}
