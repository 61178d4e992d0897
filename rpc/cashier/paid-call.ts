import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { ChannelPayment } from '../../marketplace/till/rails/dollar/channel/channel.ts'
import type { DollarPayment } from '../../marketplace/till/rails/dollar/claim.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import type { Rail } from './options.ts'
import type { OfferedTab } from './tab-payment.ts'

/** A payment that came with a call, on one of the rails. */
export type OfferedPayment =
  | { readonly rail: 'native'; readonly txId: TxId; readonly secret: Uint8Array | null }
  | { readonly rail: 'stable'; readonly payment: DollarPayment }
  | OfferedTab
  | { readonly rail: 'channel'; readonly payment: ChannelPayment }

/** A paid call that came over HTTP, MCP or A2A. */
export interface PaidCallRequest {
  readonly offer: Offer
  readonly request: string
  readonly payment: OfferedPayment
  /** Shows, on the stablecoin rail, that a repeat comes from the same caller. */
  readonly idempotencyKey: string | null
  /** The client that sent it, for limits by address. */
  readonly client: Holder
}

/** Where a paid call is carried out. */
export interface CallRoom {
  readonly node: NodeApi
  readonly market: MarketApi
}

/** Outcome of a payment, for the settlement headers of x402 versions 1 and 2, for MCP and for A2A. */
export interface Settlement {
  readonly success: boolean
  /** Empty for a call on a tab or a channel without a deposit: it has no transaction of its own. */
  readonly transaction: string
  /** On the stablecoin rail as the payment's x402 version spells it. On the native rail and on tabs always in CAIP-2. */
  readonly network: string
  readonly payer: string
  /** Only on tabs and channels, and empty for a call without a deposit: `extra.chargedAmount` says it. */
  readonly amount?: string
  readonly extra?: object
}

/** The outcome of a paid call. */
export type CallOutcome =
  /** The result is JSON text, exactly as stored and as hashed for the receipt. */
  | {
      readonly is: 'paid'
      readonly result: string
      readonly receipt: object
      readonly settlement: Settlement
      readonly replayed: boolean
      /** To be called once the caller has received the whole answer. */
      readonly sent: () => void
    }
  /**
   * The service failed. The money is in escrow and goes back on chain: then there is a refund. Or nothing was charged to the
   * tab: then there is a receipt that says so.
   */
  | {
      readonly is: 'failed'
      readonly code: FaultCode
      readonly message: string
      readonly told: { readonly refund: object } | { readonly receipt: object }
      readonly settlement: Settlement | null
      readonly replayed: boolean
    }
  /** A tab is ending, or a channel was refunded, because its payer asked for it. */
  | { readonly is: 'closing'; readonly told: object; readonly settlement: Settlement }
  /** Refused. `charged` is false if nothing of the payment was used; null if that is unknown or the fault says it. */
  | {
      readonly is: 'refused'
      readonly fault: Fault
      readonly charged: false | null
      readonly settlement: Settlement | null
      /** The only rail that the next offer should have; absent: those of the request. */
      readonly rail?: Rail
      /** What the payer needs to go on; null if there is nothing, or if the caller is not shown to be the payer. */
      readonly corrective: object | null
    }
