import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Settled } from '../../marketplace/till/rail.ts'
import type { ChannelPaidCall } from '../../marketplace/till/rails/dollar/channel/call.ts'
import type { ChannelPayment, ChannelPaymentOf } from '../../marketplace/till/rails/dollar/channel/channel.ts'
import type { ChannelRail, ChannelView } from '../../marketplace/till/rails/dollar/channel/channel-rail.ts'
import type { ChannelClaimer } from '../../marketplace/till/rails/dollar/channel/claimer.ts'
import type { CountedChain } from '../../marketplace/till/rails/dollar/channel/counted-chain.ts'
import { chargedOf, type Refunded } from '../../marketplace/till/rails/dollar/channel/funding.ts'
import type { ChannelTerms } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import type { AnsweredTabRow, TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import type { ChannelDesk, ChannelFigures } from '../node/channel-desk.ts'

/** What the counter works with. */
export interface ChannelCounterParts {
  readonly rail: ChannelRail
  readonly claimer: ChannelClaimer
  readonly store: Pick<TabStore, 'peek'>
  readonly counted: Pick<CountedChain, 'counts'>
}

/** The rail of channels with what its doors need: after each call it looks whether the channel must be claimed at once. */
export class ChannelCounter implements ChannelDesk {
  readonly #parts: ChannelCounterParts

  constructor(parts: ChannelCounterParts) {
    this.#parts = parts
  }

  get till(): ChannelRail['till'] {
    return this.#parts.rail.till
  }

  get terms(): ChannelTerms {
    return this.#parts.rail.terms
  }

  get closedBecause(): string | null {
    return this.#parts.rail.closedBecause
  }

  get isEnding(): boolean {
    return this.#parts.rail.isEnding
  }

  get figures(): ChannelFigures {
    const { claimer, counted } = this.#parts
    return { ...claimer.figures, transactions: counted.counts }
  }

  async settle(call: ChannelPaidCall): Promise<Result<Settled<AnsweredTabRow>>> {
    const outcome = await this.till.settle(call)
    if (outcome.ok) this.#watch(call.payment)
    return outcome
  }

  handedOver(answer: AnsweredTabRow): Promise<void> {
    return this.till.handedOver(answer)
  }

  isOfPayer(payment: ChannelPayment): boolean {
    return this.#parts.rail.isOfPayer(payment)
  }

  viewOf(payment: ChannelPayment, from: Holder): Promise<Result<ChannelView>> {
    return this.#parts.rail.viewOf(payment, from)
  }

  async refund(payment: ChannelPaymentOf<'refund'>, from: Holder): Promise<Result<Refunded>> {
    const refunded = await this.#parts.rail.refund(payment, from)
    // What was claimed with it is still to be paid out.
    if (refunded.ok) this.#parts.claimer.owe()
    return refunded
  }

  #watch(payment: ChannelPayment): void {
    const { channelId } = payment.voucher
    const { rail, claimer, store } = this.#parts
    const state = rail.sightings.state(channelId)
    const row = store.peek(channelId as TxId)
    if (state !== undefined && row !== undefined && claimer.isUrgent(state, chargedOf(row, state), payment))
      claimer.check()
  }
}
