import type { Result } from '../../../../../consensus/primitives/result.ts'
import type { Asker } from '../facilitators.ts'
import type { ChainOutcome, ChannelChain, ChannelMove, RefundOrder } from './chain.ts'
import type { ChannelPayment, ChannelPaymentOf, ChannelState, ClaimRow } from './channel.ts'

/** A kind of transaction of channels. */
export type Transacted = 'deposit' | 'claim' | 'payout' | 'refund'

/** How many transactions ended how, since the start. */
export interface TransactionCount {
  readonly kind: Transacted
  readonly end: ChainOutcome<object>['is']
  readonly count: number
}

/** The chain side of channels, which counts how its transactions end. */
export class CountedChain implements ChannelChain {
  readonly #chain: ChannelChain
  readonly #counts = new Map<string, TransactionCount>()

  constructor(chain: ChannelChain) {
    this.#chain = chain
  }

  get counts(): readonly TransactionCount[] {
    return [...this.#counts.values()]
  }

  verify(payment: ChannelPayment, amount: bigint, asker?: Asker): Promise<Result<ChannelState>> {
    return this.#chain.verify(payment, amount, asker)
  }

  state(last: ChannelPayment, asker?: Asker): Promise<Result<ChannelState>> {
    return this.#chain.state(last, asker)
  }

  deposit(payment: ChannelPaymentOf<'deposit'>, amount: bigint, asker?: Asker): Promise<ChainOutcome<ChannelMove>> {
    return this.#counted('deposit', this.#chain.deposit(payment, amount, asker))
  }

  claim(rows: readonly ClaimRow[]): Promise<ChainOutcome<object>> {
    return this.#counted('claim', this.#chain.claim(rows))
  }

  settle(): Promise<ChainOutcome<{ readonly amount: bigint | null }>> {
    return this.#counted('payout', this.#chain.settle())
  }

  refund(order: RefundOrder): Promise<ChainOutcome<ChannelMove>> {
    return this.#counted('refund', this.#chain.refund(order))
  }

  async #counted<T extends object>(kind: Transacted, sent: Promise<ChainOutcome<T>>): Promise<ChainOutcome<T>> {
    const outcome = await sent
    const { is: end } = outcome
    const { count = 0 } = this.#counts.get(`${kind} ${end}`) ?? {}
    this.#counts.set(`${kind} ${end}`, { kind, end, count: count + 1 })
    return outcome
  }
}
