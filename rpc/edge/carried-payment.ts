import { type Fields, fieldsOf } from '../../consensus/primitives/fields.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { lockOf, openerOf } from '../../consensus/tx/redeem-lock.ts'
import { ESCROWS } from '../../marketplace/ledger/escrow.ts'
import type { DollarPayment } from '../../marketplace/till/rails/dollar/claim.ts'
import { identify, isOfPayer } from '../../marketplace/till/rails/dollar/identity.ts'
import type { TabPayment } from '../../marketplace/till/rails/tab/tab-call.ts'
import { offerIn } from '../a2a/offer-in.ts'
import { readMessage } from '../a2a/wire.ts'
import { paymentInHeaders, readNativePayload, readPayment } from '../cashier/cashier.ts'
import type { OfferedPayment } from '../cashier/paid-call.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'

/** The parts of a request that can carry a payment. */
export interface Carrier {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  /** A plain call has its payment in other places than a protocol message. */
  readonly door: 'plain' | 'json-rpc'
}

/**
 * The payment that a request carries, or null. It must be readable and stand where the interface expects it. A protocol
 * message must also name a service on sale, or an A2A task. Whether the payment is good is not checked.
 */
export function carriedPayment(market: MarketApi | null, { headers, body, door }: Carrier): OfferedPayment | null {
  if (market === null) return null
  if (door === 'json-rpc') return inMessage(market, fieldsOf(body))
  const { payment } = fieldsOf(body)
  const read = payment === undefined ? paymentInHeaders(headers, market) : readNativePayload(fieldsOf(payment), 'body')
  return counted(market, read)
}

/** A payment from a tab that this node does not know is none: inventing one costs a stranger nothing. */
function counted({ tabs }: MarketApi, read: Result<OfferedPayment | null>): OfferedPayment | null {
  if (!read.ok || read.value?.rail !== 'tab') return read.ok ? read.value : null
  const { payment, refund } = read.value
  return tabs?.knows((payment ?? refund).tabId) === true ? read.value : null
}

/**
 * Name of a payment that this node knows, by a claim or an open escrow, and that its payer shows; null for any other.
 * Anyone can copy a txId from the chain, so a native payment without a secret is never known. Request commitments are
 * not checked: hashing what strangers send is no work for an overloaded node.
 */
export async function knownPaymentOf(
  { chain, market }: Pick<NodeApi, 'chain' | 'market'>,
  { payment, idempotencyKey }: ShownPayment,
): Promise<string | null> {
  if (market === null) return null
  if (payment.rail === 'stable') return knownAuthorization(market, payment.payment, idempotencyKey)
  if (payment.rail === 'tab') return knownVoucher(market, payment.payment)
  if (payment.rail === 'channel') return null
  const { txId, secret } = payment
  if (secret === null) return null
  const opener = openerOf(secret)
  if (chain.database.get(ESCROWS, txId)?.redeemLock === lockOf(opener)) return txId
  return (await market.store.get(txId))?.opener === opener ? txId : null
}

interface ShownPayment {
  readonly payment: OfferedPayment
  readonly idempotencyKey: string | null
}

async function knownAuthorization(
  { stable }: MarketApi,
  payment: DollarPayment,
  idempotencyKey: string | null,
): Promise<string | null> {
  if (stable === null) return null
  const identity = identify(stable.terms, { serviceId: '', request: '', payment, idempotencyKey })
  const claim = await stable.store.get(identity.id)
  return claim !== undefined && isOfPayer(claim, identity) ? identity.id : null
}

/** A whole voucher has the secret of its call, which was sent with that call alone: only its sender can repeat it. */
async function knownVoucher({ tabs }: MarketApi, payment: TabPayment | null): Promise<string | null> {
  if (payment === null || tabs === null || !(await tabs.hasTaken(payment))) return null
  return `${payment.tabId}:${payment.voucher.seq}`
}

function inMessage(market: MarketApi, { method, params }: Fields): OfferedPayment | null {
  if (method === 'tools/call') return inToolCall(market, fieldsOf(params))
  return method === 'SendMessage' || method === 'message/send' ? inAgentMessage(market, params) : null
}

function inToolCall(market: MarketApi, { name, arguments: given, _meta: meta }: Fields): OfferedPayment | null {
  if (typeof name !== 'string' || market.shop.offer(name) === undefined) return null
  const inMeta = fieldsOf(meta)['x402/payment']
  const read =
    inMeta === undefined
      ? readNativePayload(fieldsOf(fieldsOf(given).payment), 'arguments')
      : readPayment(inMeta, '_meta', market)
  return counted(market, read)
}

function inAgentMessage(market: MarketApi, params: unknown): OfferedPayment | null {
  const message = readMessage(params)
  if (typeof message === 'string') return null
  if (message.taskId === null && offerIn(message, market) === undefined) return null
  return counted(market, readPayment(message.metadata['x402.payment.payload'], 'metadata', market))
}
