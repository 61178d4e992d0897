import type { Chain } from '../../consensus/chain/chain.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { checkRequest, needsRequest } from '../../marketplace/services/service.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { carryOut, readPayment } from '../cashier/cashier.ts'
import { offerState } from '../cashier/offer-state.ts'
import { NATIVE_SCHEME, type Rail } from '../cashier/options.ts'
import type { CallOutcome, OfferedPayment, Settlement } from '../cashier/paid-call.ts'
import { isWithheld, quoteBook, wantsAnother } from '../cashier/quotes.ts'
import { paidArgumentMisfits, paidToolInput } from '../contract/agent-tools.ts'
import { httpFault } from '../contract/http-faults.ts'
import { PerHead } from '../discovery/per-head.ts'
import { addressKey, holderOf } from '../edge/client-key.ts'
import { coinNumber, usdNumber } from '../json/chain-json.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import { type McpPlace, refusalJson, type ToolAnswer, toolAnswer } from './place.ts'

/** Key in `_meta` of a request for its payment. */
const PAYMENT_KEY = 'x402/payment'
/** Key in `_meta` of a result for the outcome of the payment. */
const RESPONSE_KEY = 'x402/payment-response'

/** A call of a paid tool. */
export interface PaidToolCall {
  readonly market: MarketApi
  readonly offer: Offer
  readonly args: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>>
}

const LISTS = new PerHead<readonly object[]>(1)

/** One tool for every service that can be bought now, in the order of the registry. */
export function listPaidTools(node: Pick<NodeApi, 'chain' | 'market'>): readonly object[] {
  const { chain, market } = node
  return market === null ? [] : LISTS.get(node, '', () => toolsAtHead(chain, market))
}

function toolsAtHead(chain: Chain, market: MarketApi): readonly object[] {
  const { ticker, decimals } = chain.ruleBook.params
  return market.shop.offers.flatMap((offer) => {
    const { native, priceUsdMicros, reason } = offerState(chain, market, offer)
    const coins = native.quote === null ? '' : ` (${coinNumber(native.quote.amount, decimals)} ${ticker})`
    return reason === null ? [toolOf(offer, `$${usdNumber(priceUsdMicros)}${coins}`)] : []
  })
}

function toolOf({ definition }: Offer, price: string): object {
  const { serviceId, name, description, requestFormat, example } = definition
  const format = requestFormat === '' ? 'Optional context' : requestFormat
  return {
    name: serviceId,
    title: name,
    description: `${description.replace(/\.$/, '')}. Input: ${format}.${example === '' ? '' : ` Example: ${example.replace(/\.$/, '')}.`} Price: ${price} per call; call it without payment for the exact terms.`,
    inputSchema: paidToolInput({ description: format, isNeeded: needsRequest(definition), example }),
    annotations: {
      title: name,
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
  }
}

/**
 * One payment runs one service once, whatever interface it comes through. Begun work is finished even if the caller has
 * left.
 */
export async function callPaidTool(place: McpPlace, call: PaidToolCall): Promise<ToolAnswer> {
  const misfits = paidArgumentMisfits(call.args)
  if (misfits.length > 0) return refused(place, call, fault('rpc/invalid-request', { fields: misfits }))
  const { request = '' } = call.args
  if (typeof request !== 'string')
    return refused(place, call, fault('rpc/invalid-request', { fields: ['request must be a string'] }))
  const offered = paymentOf(call)
  if (!offered.ok) return refused(place, call, offered.fault)
  if (offered.value === null) return unpaid(place, call, request)
  const { node } = place
  const { market, offer } = call
  const idempotencyKey = place.request.headers['idempotency-key'] ?? null
  const client = holderOf(addressKey(place.request.address))
  const paid = { offer, request, payment: offered.value, idempotencyKey, client }
  return told(place, call, await carryOut(node, market, paid))
}

function paymentOf({ args, meta, market }: PaidToolCall): Result<OfferedPayment | null> {
  if (meta[PAYMENT_KEY] !== undefined) return readPayment(meta[PAYMENT_KEY], `_meta["${PAYMENT_KEY}"]`, market)
  if (args.payment === undefined || args.payment === null) return ok(null)
  return readPayment({ scheme: NATIVE_SCHEME, payload: args.payment }, 'the argument payment', market)
}

/** The terms of a call that is not paid. They say if the request is invalid, so that no caller pays for a typo. */
function unpaid(place: McpPlace, call: PaidToolCall, request: string): ToolAnswer {
  const { offer, market } = call
  const checked = checkRequest(offer.definition, request, market.shop.context)
  const { requestFormat, example } = offer.definition
  const more = checked.ok
    ? { requestValid: true }
    : { requestValid: false, requestError: { reason: checked.fault.detail.reason, requestFormat, example } }
  return terms(place, call, { code: 'payment_required', ...more }, { isWithheld: isWithheld(request, checked.ok) })
}

function told(place: McpPlace, call: PaidToolCall, outcome: CallOutcome): ToolAnswer {
  switch (outcome.is) {
    case 'paid': {
      place.onSent(outcome.sent)
      const { result, receipt, settlement } = outcome
      // The stored text goes in unchanged, because the receipt's hash is over its bytes.
      const text = `{"paid":true,"result":${result},"receipt":${JSON.stringify(receipt)}}`
      return {
        content: [{ type: 'text', text }],
        structuredContent: { paid: true, result: JSON.parse(result) as unknown, receipt },
        ...responseOf(settlement),
      }
    }
    case 'failed': {
      const { code, message, told: facts, settlement } = outcome
      const { requestId } = place.request
      const body = { error: message, code: httpFault(code).api, requestId, ...facts }
      return { ...toolAnswer(body), isError: true, ...responseOf(settlement) }
    }
    case 'closing':
      return { ...toolAnswer(outcome.told), ...responseOf(outcome.settlement) }
    default:
      return refused(place, call, outcome.fault, outcome)
  }
}

function refused(
  place: McpPlace,
  call: PaidToolCall,
  cause: Fault,
  { charged, settlement, rail, corrective }: Partial<Extract<CallOutcome, { is: 'refused' }>> = {},
): ToolAnswer {
  const said = responseOf(settlement ?? null)
  if (wantsAnother(cause)) {
    const { api: code } = httpFault(cause.code)
    return { ...terms(place, call, { code, details: cause.detail }, { cause, rail, corrective }), ...said }
  }
  const body = { ...refusalJson(cause, place.request.requestId), ...(charged === false && { charged }) }
  return { ...toolAnswer(body), isError: true, ...said }
}

function responseOf(settlement: Settlement | null): Pick<ToolAnswer, '_meta'> {
  return settlement === null ? {} : { _meta: { [RESPONSE_KEY]: settlement } }
}

function terms(
  { node, request }: McpPlace,
  call: PaidToolCall,
  more: object,
  how: {
    readonly cause?: Fault
    readonly isWithheld?: boolean
    readonly rail?: Rail | undefined
    readonly corrective?: object | null | undefined
  },
): ToolAnswer {
  const { market, offer } = call
  const { requestId, baseUrl } = request
  const resource = `mcp://tool/${offer.definition.serviceId}`
  const offered = quoteBook(node.chain, market).terms(offer, { requestId, baseUrl, resource, withTabs: true, ...how })
  return { ...toolAnswer({ ...offered, ...more }), isError: true }
}
