import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { httpFault } from '../contract/http-faults.ts'
import { refundOf } from '../market/requests.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import { nativeNetwork } from './options.ts'
import type { OfferedPayment } from './payments.ts'
import { nativeReceipt, stableReceipt } from './receipts.ts'
import { tellPayment } from './unused.ts'

/** A paid call, however it came: over HTTP, MCP or A2A. */
export interface PaidCallRequest {
  readonly offer: Offer
  readonly request: string
  readonly payment: OfferedPayment
  /** What makes a repeat the caller's own; null without. */
  readonly idempotencyKey: string | null
  /** The sender, as limits by address count it. */
  readonly client: Holder
}

/** How a payment went: what the settlement headers of both generations and of MCP say. */
export interface Settlement {
  readonly success: boolean
  readonly transaction: string
  /** In the words of the payment's generation. */
  readonly network: string
  readonly payer: string
}

/** What came of a paid call. */
export type CallOutcome =
  /** Done: result as JSON text, exactly as stored, hashed and named by the receipt. */
  | {
      readonly is: 'paid'
      readonly result: string
      readonly receipt: object
      readonly settlement: Settlement
      readonly replayed: boolean
      /** To be called when the answer was handed over to the end. */
      readonly sent: () => void
    }
  /** The service failed after the money was in escrow: it goes back on chain. */
  | {
      readonly is: 'failed'
      readonly code: FaultCode
      readonly message: string
      readonly refund: object
      readonly replayed: boolean
    }
  /** Refused. Nothing of the payment was used where `charged` is false; null: not known yet, or what it was used for is told. */
  | {
      readonly is: 'refused'
      readonly fault: Fault
      readonly charged: false | null
      readonly settlement: Settlement | null
    }

/** Carries a paid call out, or says why not. One payment runs one service once, whichever door it came through. */
export async function carryOut(node: NodeApi, market: MarketApi, call: PaidCallRequest): Promise<CallOutcome> {
  const { payment, offer } = call
  const outcome = await (payment.rail === 'native'
    ? payNative({ node, market }, call, payment)
    : payStable({ node, market }, call, payment))
  if (outcome.is !== 'refused') return outcome
  const meant = { agentId: market.shop.operator.agentId, serviceId: offer.definition.serviceId }
  return { ...outcome, fault: tellPayment(node, outcome.fault, payment, meant) }
}

interface Place {
  readonly node: NodeApi
  readonly market: MarketApi
}

async function payNative(
  { node, market }: Place,
  { offer, request, client: from }: PaidCallRequest,
  { txId, secret }: Extract<OfferedPayment, { rail: 'native' }>,
): Promise<CallOutcome> {
  const { serviceId } = offer.definition
  const outcome = await market.till.settle({ serviceId, request, txId, secret, from })
  if (!outcome.ok) return { is: 'refused', fault: outcome.fault, charged: null, settlement: null }
  const { claim, replayed } = outcome.value
  if (claim.state === 'failed') {
    const refund = refundOf({ chain: node.chain, market }, claim)
    const message = claim.message.replace(/\.?$/, '. The payment goes back to its payer on chain: see refund.')
    return { is: 'failed', code: claim.reason, message, refund, replayed }
  }
  const receipt = nativeReceipt(node.chain, claim)
  const settlement = { success: true, transaction: txId, network: nativeNetwork(node.chain), payer: receipt.caller }
  const sent = (): void => void market.till.delivered(claim)
  return { is: 'paid', result: claim.result as string, receipt, settlement, replayed, sent }
}

async function payStable(
  { market }: Place,
  { offer, request, idempotencyKey, client: from }: PaidCallRequest,
  { payment }: Extract<OfferedPayment, { rail: 'stable' }>,
): Promise<CallOutcome> {
  const rail = market.stable as NonNullable<MarketApi['stable']>
  const { serviceId } = offer.definition
  const outcome = await rail.till.settle({ serviceId, request, payment, idempotencyKey, from })
  const { word, caip2 } = rail.terms.network
  const network = payment.version === 1 ? word : caip2
  if (!outcome.ok) {
    const { fault } = outcome
    const transaction = fault.detail.transaction
    const settlement =
      typeof transaction === 'string'
        ? { success: true, transaction, network, payer: payment.authorization.from }
        : null
    return { is: 'refused', fault, charged: isUncharged(fault) ? false : null, settlement }
  }
  const { claim, replayed } = outcome.value
  const settlement = { success: true, transaction: claim.transaction, network, payer: claim.payer }
  const receipt = stableReceipt(rail.terms, claim)
  const sent = (): void => void rail.till.delivered(claim)
  return { is: 'paid', result: claim.result as string, receipt, settlement, replayed, sent }
}

/** Refusals of the stablecoin rail after which the authorization may have been used. */
const MAYBE_CHARGED: ReadonlySet<FaultCode> = new Set([
  'stable/under-way',
  'stable/unsettled',
  'stable/used',
  'stable/delivered',
  'stable/result-expired',
  'stable/owed',
  'market/claims-away',
])

function isUncharged({ code }: Fault): boolean {
  return !MAYBE_CHARGED.has(code)
}

/**
 * Whether another payment would help. Only then are terms given: a client that pays by itself would pay twice for a payment that
 * waits for its block, or that serves once the call is corrected: in how it is written, in its secret, or in its request.
 */
export function wantsAnother({ code, detail }: Fault): boolean {
  const { status, retry } = httpFault(code)
  return status === 402 && !retry && code !== 'pay/unreadable' && detail.correctable !== true
}
