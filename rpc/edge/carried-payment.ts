import { type Fields, fieldsOf } from '../../consensus/primitives/fields.ts'
import { ESCROWS, lockOf, openerOf } from '../../marketplace/ledger/escrow.ts'
import type { StablePayment } from '../../marketplace/till/rails/dollar/claim.ts'
import { identify, isOfPayer } from '../../marketplace/till/rails/dollar/identity.ts'
import { offerIn } from '../a2a/offer-in.ts'
import { readMessage } from '../a2a/wire.ts'
import { type OfferedPayment, paymentInHeaders, readNativePayload, readPayment } from '../cashier/cashier.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'

/** What of a request says whether it brings a payment. */
export interface Carrier {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  /** Door that it came to: a plain call has its payment elsewhere than a message of a protocol. */
  readonly door: 'plain' | 'json-rpc'
}

/**
 * The payment that a request brings, null without one. Only where its door would look for it, only for something that is sold,
 * and only if it can be read: a mark that no door would take is no payment. Nothing is said of its worth.
 */
export function carriedPayment(market: MarketApi | null, { headers, body, door }: Carrier): OfferedPayment | null {
  if (market === null) return null
  if (door === 'json-rpc') return inMessage(market, fieldsOf(body))
  const { payment } = fieldsOf(body)
  const read = payment === undefined ? paymentInHeaders(headers, market) : readNativePayload(fieldsOf(payment), 'body')
  return read.ok ? read.value : null
}

/**
 * Name of a payment that this node knows, and that its payer shows: it is claimed, or in an open escrow. Null for anything else,
 * whatever is wrong with it. What any caller can read on a chain shows no payer, so a payment without a secret is never known, nor
 * one that only commits to a request before it is claimed: to hash what strangers send is no work for a node without time.
 */
export async function knownPaymentOf(
  { chain, market }: Pick<NodeApi, 'chain' | 'market'>,
  { payment, idempotencyKey }: ShownPayment,
): Promise<string | null> {
  if (market === null) return null
  if (payment.rail === 'stable') return knownAuthorization(market, payment.payment, idempotencyKey)
  const { txId, secret } = payment
  if (secret === null) return null
  const opener = openerOf(secret)
  if (chain.database.get(ESCROWS, txId)?.redeemLock === lockOf(opener)) return txId
  return (await market.store.get(txId))?.opener === opener ? txId : null
}

/** A payment with what else shows whose it is. */
interface ShownPayment {
  readonly payment: OfferedPayment
  readonly idempotencyKey: string | null
}

async function knownAuthorization(
  { stable }: MarketApi,
  payment: StablePayment,
  idempotencyKey: string | null,
): Promise<string | null> {
  if (stable === null) return null
  const identity = identify(stable.terms, { serviceId: '', request: '', payment, idempotencyKey })
  const claim = await stable.store.get(identity.id)
  return claim !== undefined && isOfPayer(claim, identity) ? identity.id : null
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
  return read.ok ? read.value : null
}

function inAgentMessage(market: MarketApi, params: unknown): OfferedPayment | null {
  const message = readMessage(params)
  if (typeof message === 'string') return null
  if (message.taskId === null && offerIn(message, market) === undefined) return null
  const read = readPayment(message.metadata['x402.payment.payload'], 'metadata', market)
  return read.ok ? read.value : null
}
