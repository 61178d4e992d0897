import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import { fieldsOf, readAnswer, readRefusal } from '../http.ts'
import { decodeTerms, type NativeTerms, paymentHeader, paymentPayload } from './carriers.ts'
import type { Payer } from './payer.ts'
import { NATIVE_SCHEME, nativeOffer, readOffer, withWord } from './quotes.ts'
import { isPassing } from './refusals.ts'
import { changed, isFromElsewhere, type SentRequest, send, sendWithinOrigin } from './sent-request.ts'
import { awaitMined, interrupted, type SettlePlace } from './settling.ts'
import type { PaidFetchOptions, Payment, PaymentState, Quote } from './shapes.ts'
import { NotChargedError } from './tabs/tab-errors.ts'
import type { TabCarrier } from './tabs/tab-seller.ts'
import type { Tabs } from './tabs/tabs.ts'
import { isOver, type Patience, pause } from './waiting.ts'

type Fetch = typeof globalThis.fetch

/** Dependencies of a paying fetch. */
export interface PaidFetchParts extends SettlePlace {
  readonly payer: Payer
  readonly tabs: Tabs
  /** Bounds of a wait that begins now. `signal` is the caller's, in addition to the client's. */
  readonly patience: (signal?: AbortSignal) => Patience
  readonly note: (payment: Payment, state: PaymentState) => Promise<void>
}

const RETRY_MS = { least: 500, most: 10_000 }

/**
 * A `fetch` that pays. A 402 of any x402 server with a native offer is paid within the ceilings, and the request is repeated.
 * Every other answer is returned unchanged, also a 402 without such an offer or from another origin. Errors: those of the
 * guards, the reason of the request's signal if it ends before the payment, and `InterruptedPaymentError` if no answer came
 * after the payment.
 */
export function payingFetch(
  fetch: Fetch,
  parts: PaidFetchParts,
  { carrier = 'header', payment }: PaidFetchOptions,
): Fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    // The body is read now, because it is sent again with the payment.
    const body = request.body === null ? null : new Uint8Array(await request.clone().arrayBuffer())
    const { dispatcher } = fieldsOf(init)
    const sent = { request, body, caller: { request, dispatcher } }
    const first = await send(fetch, sent)
    // A redirect to another origin is not paid. The caller sees where it leads and can ask there.
    if (first.status !== 402 || isFromElsewhere(first, request)) return first
    const asked = await readTerms(first.clone(), sent, parts)
    if (asked === undefined) return first
    await first.body?.cancel()
    const onTab =
      carrier === 'header' && payment === undefined ? await paidFromTab(fetch, parts, { sent, asked }) : null
    if (onTab !== null) return onTab
    const record = payment ?? (await parts.payer.pay(asked.quote, request.signal)).record
    // A Farthing node waits for the block itself.
    if (!asked.quote.isCommitted) await awaitDepth(parts, record, asked.quote, request.signal)
    return settle({ fetch, parts, sent, asked, carrier }, record)
  }
}

interface Asked extends NativeTerms {
  readonly quote: Quote
}

/** The native terms of a 402 answer, x402 version 2 before 1. Undefined if there are none that can be paid. */
async function readTerms(response: Response, sent: SentRequest, { payer }: PaidFetchParts): Promise<Asked | undefined> {
  const body = await readRefusal(response)
  const newer = decodeTerms(response.headers.get('payment-required'))
  const version = newer === undefined || nativeOffer(newer) === undefined ? 1 : 2
  const terms = version === 2 ? (newer as NonNullable<typeof newer>) : body
  // Only the body says whether the request is the reason why an offer is not accepted.
  const offer = nativeOffer({ ...terms, requestValid: body.requestValid })
  if (offer === undefined) return undefined
  const basis = {
    ...{ request: requestOf(sent, body), url: sent.request.url },
    ...{ nowMs: Date.now(), facts: payer.facts },
  }
  const quote = readOffer(offer, basis)
  return quote === undefined ? undefined : { version, terms, quote: withWord(quote, body) }
}

/**
 * The text that a payment commits to: the member `request` of a call to a Farthing node. Null for another server, whose
 * seller may read any part of the HTTP request. Such a payment is only locked to its secret.
 */
function requestOf({ body }: SentRequest, answer: Readonly<Record<string, unknown>>): string | null {
  if (answer.x402 !== true || nativeOffer(answer)?.scheme !== NATIVE_SCHEME) return null
  const { request = '' } = body === null ? {} : jsonOf(new TextDecoder().decode(body))
  return typeof request === 'string' ? request : null
}

/** The answer to a call that a tab paid. Null: pay it by itself. That the service failed is an answer like any other. */
async function paidFromTab(
  fetch: Fetch,
  { tabs }: PaidFetchParts,
  { sent, asked: { quote } }: { readonly sent: SentRequest; readonly asked: Asked },
): Promise<Response | null> {
  if (sent.request.method !== 'POST') return null
  let last: Response | null = null
  const carry: TabCarrier['carry'] = async (payment) => {
    const headers = new Headers(sent.request.headers)
    headers.set(...paymentHeader(payment))
    try {
      last = await sendWithinOrigin(fetch, changed(sent, { headers }))
      return ok(await readAnswer(last.clone()))
    } catch {
      return fail(fault('cli/node-unreachable', { url: sent.request.url, advice: '' }))
    }
  }
  try {
    return (await tabs.pay(quote, { url: sent.request.url, carry, signal: sent.caller.request.signal })) ? last : null
  } catch (error) {
    if (error instanceof NotChargedError) return last
    throw error
  }
}

interface PaidRequest {
  readonly fetch: Fetch
  readonly parts: PaidFetchParts
  readonly sent: SentRequest
  readonly asked: Asked
  readonly carrier: 'header' | 'body'
}

async function settle({ fetch, parts, sent, asked, carrier }: PaidRequest, payment: Payment): Promise<Response> {
  const { signal } = sent.caller.request
  const patience = parts.patience(signal)
  const paid = carrier === 'body' ? withBody(sent, payment) : withHeader(sent, payment, asked)
  for (let waitMs = RETRY_MS.least; ; waitMs = Math.min(2 * waitMs, RETRY_MS.most)) {
    const response = await sendWithinOrigin(fetch, paid).catch(() => null)
    const passing = response === null || (await isRetryable(response))
    if (!passing) {
      await parts.note(payment, response.ok ? 'settled' : 'submitted')
      if (response.ok) parts.tabs.counted(asked.quote.agentId, null)
      return response
    }
    void response?.body?.cancel().catch(() => {})
    if (isOver(patience)) throw interrupted(payment)
    if (response?.status === 402) await awaitDepth(parts, payment, asked.quote, signal)
    await pause(Math.min(waitMs, Math.max(0, patience.untilMs - Date.now())), patience.signal)
  }
}

/** Waits for the confirmations that the seller wants. */
export function awaitDepth(
  parts: PaidFetchParts,
  payment: Payment,
  { confirmations }: Quote,
  signal?: AbortSignal,
): Promise<void> {
  return awaitMined(parts, payment, { ...parts.patience(signal), confirmations })
}

async function isRetryable(response: Response): Promise<boolean> {
  if (response.ok || (response.status < 500 && response.status !== 402 && response.status !== 429)) return false
  return isPassing({ status: response.status, body: await readRefusal(response.clone()) })
}

function withHeader(sent: SentRequest, payment: Payment, asked: Asked): SentRequest {
  const headers = new Headers(sent.request.headers)
  headers.set(...paymentHeader(paymentPayload(payment, asked.quote, asked)))
  return changed(sent, { headers })
}

function withBody(sent: SentRequest, { txId, secret }: Payment): SentRequest {
  const { request, body } = sent
  const fields = body === null ? {} : jsonOf(new TextDecoder().decode(body))
  const paid = new TextEncoder().encode(JSON.stringify({ ...fields, payment: { txId, secret } }))
  const headers = new Headers(request.headers)
  headers.set('content-type', 'application/json')
  return changed(sent, { headers, body: paid })
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}
