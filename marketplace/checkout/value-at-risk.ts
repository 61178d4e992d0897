import type { Chain } from '../../consensus/chain/chain.ts'
import { epochOf } from '../../consensus/ledger/epoch.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { NativePriceSource } from './price.ts'

/** Blocks after which no number of confirmations is asked for any more. */
const FORGET_BLOCKS = 1_000

/**
 * What a reorganisation of one block would take from this operator: the payments mined in it that were taken for work.
 * Payments that nobody redeemed do not count; they go back to their callers anyway, and a stranger's could otherwise make
 * everybody in its block wait.
 */
export class ValueAtRisk {
  readonly #chain: Chain
  readonly #price: NativePriceSource
  readonly #taken = new Map<number, Map<TxId, bigint>>()

  constructor(chain: Chain, price: NativePriceSource) {
    this.#chain = chain
    this.#price = price
  }

  /** Counts a payment that was taken. */
  take(txId: TxId, minedAt: number, amount: bigint): void {
    const block = this.#taken.get(minedAt) ?? new Map<TxId, bigint>()
    block.set(txId, this.#usdMicros(minedAt, amount))
    this.#taken.set(minedAt, block)
    const oldest = this.#chain.head.header.height - FORGET_BLOCKS
    for (const height of this.#taken.keys()) if (height < oldest) this.#taken.delete(height)
  }

  /** Millionths of a dollar at risk in a block if one more payment of it is taken. */
  withOneMore(txId: TxId, minedAt: number, amount: bigint): bigint {
    let sum = this.#usdMicros(minedAt, amount)
    for (const [other, usdMicros] of this.#taken.get(minedAt) ?? []) if (other !== txId) sum += usdMicros
    return sum
  }

  #usdMicros(minedAt: number, amount: bigint): bigint {
    const epoch = epochOf(minedAt, this.#chain.ruleBook.at(minedAt).market)
    // Without a price nothing is quoted; what was taken so long ago that its price is forgotten is deep enough.
    return this.#price.microsOfAmount(amount, epoch) ?? 0n
  }
}
