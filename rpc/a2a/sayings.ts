import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { checkRequest } from '../../marketplace/services/service.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { type Rail, resourceUrl } from '../cashier/options.ts'
import type { CallOutcome } from '../cashier/paid-call.ts'
import { isWithheld, quoteBook, wantsAnother } from '../cashier/quotes.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import type { ApiRequest } from '../server/answer.ts'
import type { Artifact, Step } from './tasks.ts'

/** What the node needs to answer a message. */
export interface A2aPlace {
  readonly node: NodeApi
  readonly market: MarketApi
  readonly request: ApiRequest
}

/** What a call asks for. */
export interface Call {
  readonly offer: Offer
  readonly request: string
}

/** Key of the x402 extension for the state of a payment, in the metadata of messages. */
export const STATUS = 'x402.payment.status'
/** Key of the x402 extension for the payment. */
export const PAYLOAD = 'x402.payment.payload'
const REQUIRED = 'x402.payment.required'
const RECEIPTS = 'x402.payment.receipts'
const ERROR = 'x402.payment.error'

const LOST_STATUS = 409

/** A step with a state, a text and metadata. */
export function said(state: Step['state'], text: string, metadata: Step['says']['metadata'] = {}): Step {
  return { state, says: { text, metadata } }
}

/** The terms of a call that is not paid. They say if the request is invalid, so that no caller pays for a typo. */
export function unpaid(place: A2aPlace, { offer, request }: Call): Step {
  const checked = checkRequest(offer.definition, request, place.market.shop.context)
  const cause = checked.ok ? undefined : checked.fault
  const required = termsOf(place, offer, { cause, isWithheld: isWithheld(request, checked.ok) })
  const error = checked.ok ? {} : { [ERROR]: 'invalid_request' }
  const metadata = { [STATUS]: 'payment-required', [REQUIRED]: required, ...error }
  return said('input-required', String(required.error), metadata)
}

/** A refusal, with the terms if another payment would help. */
export function refused(
  place: A2aPlace,
  { offer }: Call,
  cause: Fault,
  { rail, corrective }: Partial<Extract<CallOutcome, { is: 'refused' }>> = {},
): Step {
  const { api } = httpFault(cause.code)
  const error = { [ERROR]: api, details: cause.detail }
  if (!wantsAnother(cause))
    return said('input-required', faultMessage(cause), { [STATUS]: 'payment-submitted', ...error })
  const required = termsOf(place, offer, { cause, rail, corrective })
  return said('input-required', faultMessage(cause), { [STATUS]: 'payment-required', [REQUIRED]: required, ...error })
}

/** The artifact is null unless the call was paid and delivered. */
export function afterOutcome(
  place: A2aPlace,
  call: Call,
  outcome: CallOutcome,
): Step & { readonly artifact: Artifact | null } {
  if (outcome.is === 'paid') {
    const { result, receipt, settlement, sent } = outcome
    const metadata = { [STATUS]: 'payment-completed', [RECEIPTS]: [settlement] }
    const text = `{"paid":true,"result":${result},"receipt":${JSON.stringify(receipt)}}`
    return {
      ...said('completed', 'Done; the artifact holds result and receipt.', metadata),
      artifact: { text, sent },
    }
  }
  if (outcome.is === 'refused') return { ...afterRefusal(place, call, outcome), artifact: null }
  if (outcome.is === 'closing') {
    const metadata = { [STATUS]: 'payment-completed', [RECEIPTS]: [outcome.settlement], ...outcome.told }
    return { ...said('completed', 'The tab ends: its rest returns to the payer on chain.', metadata), artifact: null }
  }
  const { code, message, told, settlement } = outcome
  const receipts = settlement === null ? {} : { [RECEIPTS]: [settlement] }
  const metadata = { [STATUS]: 'payment-failed', [ERROR]: httpFault(code).api, ...told, ...receipts }
  return { ...said('failed', message, metadata), artifact: null }
}

/** The step after a bug of this node. */
export function broken(): Step {
  const text = 'An error of this node. Do not pay again: repeat this message with the same payment.'
  return said('input-required', text, { [STATUS]: 'payment-submitted', [ERROR]: 'internal_error' })
}

function afterRefusal(place: A2aPlace, call: Call, outcome: Extract<CallOutcome, { is: 'refused' }>): Step {
  const { fault: cause, charged, settlement } = outcome
  const { retry, api, status } = httpFault(cause.code)
  const isOver = cause.code === 'pay/unused' || (status >= LOST_STATUS && !retry)
  if (!isOver) return refused(place, call, cause, outcome)
  const more = { ...(charged === false && { charged }), ...(settlement && { [RECEIPTS]: [settlement] }) }
  const metadata = { [STATUS]: 'payment-failed', [ERROR]: api, details: cause.detail, ...more }
  return said('failed', faultMessage(cause), metadata)
}

function termsOf(
  { node, market, request }: A2aPlace,
  offer: Offer,
  how: {
    readonly cause: Fault | undefined
    readonly isWithheld?: boolean
    readonly rail?: Rail | undefined
    readonly corrective?: object | null | undefined
  },
) {
  const { requestId, baseUrl } = request
  const resource = resourceUrl(baseUrl, offer.definition.serviceId)
  return quoteBook(node.chain, market).terms(offer, { requestId, baseUrl, resource, withTabs: true, ...how })
}
