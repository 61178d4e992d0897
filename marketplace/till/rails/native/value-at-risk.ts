import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { HeadChange } from '../../../../consensus/chain/events.ts'
import { runPaced } from '../../../../consensus/chain/ports.ts'
import { epochOf } from '../../../../consensus/ledger/epoch.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import type { NativePriceSource } from './price.ts'

/** Blocks after which no number of confirmations is asked for any more. */
const FORGET_BLOCKS = 1_000

/** A payment that was taken for work: base units, and what they are worth in the epoch of its block. */
interface Taken {
  readonly amount: bigint
  readonly usdMicros: bigint
  readonly seller: string
}

/**
 * What a reorganisation of one block would take from this operator: the payments mined in it that were taken for work.
 * Payments that were not redeemed do not count: they go back to their payers, and a stranger's payment could otherwise make
 * all calls of its block wait. After a reorganisation a payment counts in the block that holds it now, and in none while
 * none does.
 */
export class ValueAtRisk {
  readonly #chain: Chain
  readonly #price: NativePriceSource
  readonly #taken = new Map<number, Map<TxId, Taken>>()
  /** Payments that no block holds at the moment, with the height that they were taken at. */
  readonly #adrift = new Map<TxId, { readonly minedAt: number; readonly amount: bigint; readonly seller: string }>()

  constructor(chain: Chain, price: NativePriceSource) {
    this.#chain = chain
    this.#price = price
    chain.onMove((change, pacer) => runPaced(this.#move(change), pacer))
    chain.onHeadChange((change) => this.#pickUp(change))
  }

  /** Counts a payment that was taken; where there are several sellers, what one takes is not at risk for another. */
  take(txId: TxId, minedAt: number, amount: bigint, seller = ''): void {
    this.#place(txId, minedAt, { amount, seller })
    const oldest = this.#chain.head.header.height - FORGET_BLOCKS
    for (const height of this.#taken.keys()) if (height < oldest) this.#taken.delete(height)
    for (const [adrift, { minedAt: height }] of this.#adrift) if (height < oldest) this.#adrift.delete(adrift)
  }

  /** Millionths of a dollar at risk for a seller in a block if one more payment of it is taken. */
  withOneMore(txId: TxId, minedAt: number, amount: bigint, seller = ''): bigint {
    let sum = this.#usdMicros(minedAt, amount)
    for (const [other, taken] of this.#taken.get(minedAt) ?? [])
      if (other !== txId && taken.seller === seller) sum += taken.usdMicros
    return sum
  }

  #place(txId: TxId, minedAt: number, { amount, seller }: Pick<Taken, 'amount' | 'seller'>): void {
    this.#adrift.delete(txId)
    const block = this.#taken.get(minedAt) ?? new Map<TxId, Taken>()
    block.set(txId, { amount, seller, usdMicros: this.#usdMicros(minedAt, amount) })
    this.#taken.set(minedAt, block)
  }

  /** Puts what the unwound blocks held, and what was adrift before, where the new branch has it. */
  *#move({ disconnected }: HeadChange): Generator<void, void> {
    const lowest = disconnected.at(-1)?.header.height ?? Number.POSITIVE_INFINITY
    for (const [minedAt, block] of [...this.#taken].filter(([height]) => height >= lowest)) {
      this.#taken.delete(minedAt)
      for (const [txId, { amount, seller }] of block) this.#adrift.set(txId, { minedAt, amount, seller })
      yield
    }
    for (const [txId, adrift] of [...this.#adrift]) {
      const location = this.#chain.database.location(txId)
      if (location !== undefined) this.#place(txId, location.height, adrift)
      yield
    }
  }

  /** A payment that was adrift counts again in the block that mines it. */
  #pickUp({ connected, disconnected }: HeadChange): void {
    // What a move brings was looked up when it was made.
    if (this.#adrift.size === 0 || disconnected.length > 0) return
    for (const { id, header } of connected) {
      for (const { txId } of this.#chain.database.block(id)?.transactions ?? []) {
        const adrift = this.#adrift.get(txId)
        if (adrift !== undefined) this.#place(txId, header.height, adrift)
      }
    }
  }

  #usdMicros(minedAt: number, amount: bigint): bigint {
    const epoch = epochOf(minedAt, this.#chain.ruleBook.at(minedAt).market)
    // Without a price nothing is quoted; what was taken so long ago that its price is forgotten is deep enough.
    return this.#price.microsOfAmount(amount, epoch) ?? 0n
  }
}
