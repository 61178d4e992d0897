import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { ok } from '../../../consensus/primitives/result.ts'
import type { ChatCall } from '../../../marketplace/chat/call.ts'
import { priceOfRequest } from '../../../marketplace/till/rails/tab/tab-price.ts'
import type { Offer } from '../../../marketplace/till/shop.ts'
import { offerResource } from '../../cashier/extensions.ts'
import { offerState } from '../../cashier/offer-state.ts'
import { paymentOptions, shownOptions } from '../../cashier/options.ts'
import { wantsAnother } from '../../cashier/quotes.ts'
import { asSentence, shortened } from '../../json/shortened.ts'
import type { MarketApi, NodeApi } from '../../node/node-api.ts'
import type { PlainAnswer } from '../../server/answer.ts'
import { errorHeaders } from '../../server/faults.ts'
import { chatError } from '../errors.ts'

/** A chat that asks for its price, or whose payment was refused. */
export interface TermsPlace {
  readonly node: NodeApi
  readonly market: MarketApi
  /** The chat as it is sold. */
  readonly offer: Offer
  readonly call: ChatCall
  readonly baseUrl: string
}

/** Address of a chat that is paid from a tab. */
export const TAB_CHAT_PATH = '/api/v1/chat/completions?rail=tab'
const REASON_CHARS_MAX = 90
const ERROR = { type: 'invalid_request_error', param: null, code: 'payment_required' }

/**
 * A 402 with what this chat costs at most on a tab: in the header as x402 has it, in the body with an error as the OpenAI interface has it.
 * `corrective` is what the payer of a refused voucher can go on from.
 */
export function tabTerms(place: TermsPlace, cause: Fault | null, corrective: object | null = null): PlainAnswer {
  const { offer, baseUrl } = place
  const { options, reason } = optionsOf(place, cause, corrective)
  const unpaid =
    reason === null
      ? 'Payment required: a voucher of a tab for this chat'
      : `Payment required, but chats are not sold now: ${asSentence(reason)} Do not pay now.`
  const { error } = cause === null ? { error: { message: unpaid, ...ERROR } } : chatError(cause)
  const terms = { resource: offerResource(offer.definition, `${baseUrl}${TAB_CHAT_PATH}`), ...options }
  const details = cause !== null && Object.keys(cause.detail).length > 0 ? { details: cause.detail } : {}
  const said = shortened(cause === null ? unpaid : faultMessage(cause), REASON_CHARS_MAX)
  const header = Buffer.from(JSON.stringify({ x402Version: 2, error: said, ...terms })).toString('base64')
  const headers = { 'cache-control': 'no-store', 'payment-required': header, 'x-should-retry': 'false' }
  return {
    status: 402,
    content: JSON.stringify({ error, x402Version: 2, ...terms, ...details }),
    contentType: 'application/json; charset=utf-8',
    headers: { ...headers, ...(cause !== null && errorHeaders(cause)) },
  }
}

function optionsOf(
  { node: { chain }, market, offer, call, baseUrl }: TermsPlace,
  cause: Fault | null,
  corrective: object | null,
): { readonly options: object; readonly reason: string | null } {
  const state = offerState(chain, market, offer)
  const { price = null, reason = null } = state.tab ?? {}
  if (cause !== null && !wantsAnother(cause)) return { options: { accepts: [] }, reason }
  const most = price === null ? null : priceOfRequest(price, offer.definition, ok(call))
  const options = paymentOptions({ chain, market, offer, baseUrl }, { ...state, tab: { price: most, reason } }, 'tab')
  const told = options.map((option) => ({
    ...option,
    v2: { ...option.v2, extra: { ...(option.v2.extra as object), ...corrective } },
  }))
  return { options: shownOptions(told, 'v2'), reason }
}
