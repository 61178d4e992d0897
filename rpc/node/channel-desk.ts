import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Settled } from '../../marketplace/till/rail.ts'
import type { ChannelPaidCall } from '../../marketplace/till/rails/dollar/channel/call.ts'
import type { ChannelPayment, ChannelPaymentOf } from '../../marketplace/till/rails/dollar/channel/channel.ts'
import type { ChannelView } from '../../marketplace/till/rails/dollar/channel/channel-rail.ts'
import type { UnclaimedFigures } from '../../marketplace/till/rails/dollar/channel/claimer.ts'
import type { TransactionCount } from '../../marketplace/till/rails/dollar/channel/counted-chain.ts'
import type { Refunded } from '../../marketplace/till/rails/dollar/channel/funding.ts'
import type { ChannelTerms } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import type { AnsweredTabRow } from '../../marketplace/till/rails/tab/tab-store.ts'

/** Figures of channels, for metrics. */
export interface ChannelFigures extends UnclaimedFigures {
  readonly transactions: readonly TransactionCount[]
}

/** What the doors need of a seller that takes channels of an EVM network. */
export interface ChannelDesk {
  readonly terms: ChannelTerms
  /** Why no call can be paid from a channel now, or null. */
  readonly closedBecause: string | null
  /** Whether no call can be paid from a channel any more. What is left in one is still given back. */
  readonly isEnding: boolean
  readonly figures: ChannelFigures
  settle(call: ChannelPaidCall): Promise<Result<Settled<AnsweredTabRow>>>
  /** Called when the caller has received the whole answer. */
  handedOver(answer: AnsweredTabRow): Promise<void>
  /** Whether the payer of a payment that was judged is shown to have signed it. */
  isOfPayer(payment: ChannelPayment): boolean
  /** How the channel of a payment stands. */
  viewOf(payment: ChannelPayment, from: Holder): Promise<Result<ChannelView>>
  /** Gives back what the payer asks for of what is not charged. */
  refund(payment: ChannelPaymentOf<'refund'>, from: Holder): Promise<Result<Refunded>>
}
