import type { Fault } from '../../../../../consensus/primitives/fault.ts'
import type { Fields } from '../../../../../consensus/primitives/fields.ts'
import type { Result } from '../../../../../consensus/primitives/result.ts'
import type { Asker } from '../facilitators.ts'
import type { ChannelPayment, ChannelPaymentOf, ChannelState, ClaimRow } from './channel.ts'

/** The outcome of a transaction. */
export type ChainOutcome<T> =
  | ({ readonly is: 'done'; readonly transaction: string } & T)
  /** Nothing was moved or booked, and nothing will be by this. */
  | { readonly is: 'undone'; readonly cause: Fault }
  /** It may have been carried out: the chain tells. `transaction` is the one that was named. */
  | { readonly is: 'unknown'; readonly detail: string; readonly transaction: string | null }

/** What a deposit or a refund left. */
export interface ChannelMove {
  /** Units that moved. */
  readonly amount: bigint
  readonly state: ChannelState
}

/** A refund that the seller grants. */
export interface RefundOrder {
  readonly payment: ChannelPaymentOf<'refund'>
  readonly amount: bigint
  /** Of the channel, as the chain has it now. */
  readonly refundNonce: bigint
  /** What is claimed in the same transaction: all that was charged, so that no later claim exceeds the balance. */
  readonly claims: readonly ClaimRow[]
}

/** The key of the seller that signs claims and refunds: signs a digest, in hex with 0x. */
export type AuthorizerKey = (digest: Uint8Array) => string

/** The chain side of channels. Claims and refunds carry the seller's own signature, so any party may send them. */
export interface ChannelChain {
  /** Has the chain judge a payment of at most `amount` units. The state of its channel before it, if it is good. */
  verify(payment: ChannelPayment, amount: bigint, asker?: Asker): Promise<Result<ChannelState>>
  /** The state of the channel of an earlier payment. It shows whether the payer asked to withdraw. */
  state(last: ChannelPayment, asker?: Asker): Promise<Result<ChannelState>>
  /** Moves a deposit into its channel. */
  deposit(payment: ChannelPaymentOf<'deposit'>, amount: bigint, asker?: Asker): Promise<ChainOutcome<ChannelMove>>
  /** Books what vouchers promise. Rows that bring nothing new are passed over. One wrong row fails them all. */
  claim(rows: readonly ClaimRow[]): Promise<ChainOutcome<object>>
  /** Pays out all that is booked for the seller. `amount` is null if it is not known. */
  settle(): Promise<ChainOutcome<{ readonly amount: bigint | null }>>
  /** Claims what was charged and gives the rest, or a part of it, back to the payer. */
  refund(order: RefundOrder): Promise<ChainOutcome<ChannelMove>>
}

/** A channel in a block. */
export interface ChannelSighting {
  readonly state: ChannelState
  /** Height of the block on the token's chain. A sighting at a lower height is older. */
  readonly height: number
}

/** Reads the contract of channels itself, if the operator has an RPC node. */
export interface ChannelLedger {
  /** The channel in the newest block; null if the chain cannot be asked. A channel that was never funded is all zeros. */
  channel(channelId: string): Promise<ChannelSighting | null>
}

/** How a call that the node itself sent ended. */
export type SentCall =
  | { readonly is: 'mined'; readonly transaction: string; readonly height: number; readonly logs: readonly Fields[] }
  /** The contract refuses it, so it was not sent. */
  | { readonly is: 'refused' }
  /** It was mined and changed nothing. All can read it. */
  | { readonly is: 'reverted' }
  /** It was not sent: the chain could not be asked, or did not take it. */
  | { readonly is: 'unsent'; readonly detail: string }
  | { readonly is: 'unknown'; readonly transaction: string; readonly detail: string }

/** Sends calls of contracts with a key of the node, which pays the gas. */
export interface EvmSender {
  /** Whether a call would succeed now; null if the chain cannot be asked. */
  wouldSucceed(to: string, data: Uint8Array): Promise<boolean | null>
  /** Sends a call, after all earlier ones, and waits until it is mined. */
  send(to: string, data: Uint8Array): Promise<SentCall>
}
