import { parseAmount } from '../../consensus/primitives/amount.ts'
import { fieldsOf, type NodeAnswer } from './http.ts'
import type { AgentClient, TabProof } from './sdk/agent-client.ts'
import { decodeTerms, paymentHeader } from './sdk/carriers.ts'
import { FarthingError, PaymentRequiredError, SpendLimitError } from './sdk/errors.ts'
import { factsOf } from './sdk/networks.ts'
import { checkGiven, checkNoMore, invalid, KIND } from './sdk/options.ts'
import { NATIVE_SCHEME, randomHex, readOffer } from './sdk/quotes.ts'
import { sendWithinOrigin } from './sdk/sent-request.ts'
import type { NetworkName } from './sdk/shapes.ts'
import { isTabOffer } from './sdk/tabs/tab-wire.ts'

/** CAIP-2 name of the native network in x402 version 2. Networks share the chain id, so the offer's genesis tells them apart. */
export const NATIVE_NETWORK = 'farthing:1'

/** An x402 offer as the official clients pass it to a scheme. */
export interface NativeRequirements {
  readonly scheme: string
  readonly network: string
  readonly asset: string
  readonly payTo: string
  readonly extra?: Readonly<Record<string, unknown>> | null
}

/** What the official clients pass to a scheme with the offer. */
export interface SchemeContext {
  /** The official client's own spending limit in base units. Older releases have none. */
  readonly maxAmountPerPayment?: string
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** Proof of a native payment, as the official clients take it. */
export interface NativePayload {
  readonly x402Version: number
  readonly payload: { readonly txId: string; readonly secret: string }
}

/** `SchemeNetworkClient` of `@x402/core` for the scheme `native-x402`. */
export interface NativeScheme {
  readonly scheme: 'native-x402'
  createPaymentPayload(
    x402Version: number,
    requirements: NativeRequirements,
    context?: SchemeContext,
  ): Promise<NativePayload>
}

/**
 * The native rail for the public x402 clients (`@x402/fetch`, `@x402/axios`). It pays an offer within the ceilings of this client, waits
 * for the confirmations that the seller wants, and gives the proof. These clients do not show the request to a scheme, so the payment
 * commits to no request text and is only locked to its secret. The journal has the payment with `request` null. Errors:
 * `no_native_offer`, `over_call_limit`, and those of {@link AgentClient.payAndWait}.
 */
export function nativeScheme(client: AgentClient, ...more: readonly never[]): NativeScheme {
  checkGiven('nativeScheme', 'client', client, KIND.fields)
  checkNoMore('nativeScheme', more)
  return {
    scheme: NATIVE_SCHEME,
    async createPaymentPayload(x402Version, requirements, { maxAmountPerPayment } = {}) {
      const basis = {
        ...{ request: null, url: `x402:${requirements.network}` },
        ...{ nowMs: Date.now(), facts: client.network },
      }
      const quote = readOffer({ ...requirements }, basis)
      if (quote === undefined)
        throw new PaymentRequiredError('the native offer is not one that this client understands', {
          code: 'no_native_offer',
        })
      if (maxAmountPerPayment !== undefined && quote.amount > BigInt(maxAmountPerPayment))
        throw new SpendLimitError('not paid: over maxAmountPerPayment of spendControls', { code: 'over_call_limit' })
      const { txId, secret } = await client.payAndWait(quote)
      return { x402Version, payload: { txId, secret } }
    },
  }
}

/** What the official clients pass to `onPaymentResponse`. */
export interface TabResponseContext {
  readonly paymentPayload: { readonly payload: unknown }
  readonly settleResponse?: object
  readonly paymentRequired?: object
}

/** `SchemeNetworkClient` of `@x402/core` for tabs. */
export interface NativeTabScheme {
  readonly scheme: 'batch-settlement'
  createPaymentPayload(
    x402Version: number,
    requirements: NativeRequirements,
    context?: SchemeContext,
  ): Promise<{ readonly x402Version: number; readonly payload: Record<string, unknown> }>
  readonly schemeHooks: {
    /** Checks the receipt and notes it. `recovered` asks for one more try, with a new voucher. */
    onPaymentResponse(context: TabResponseContext): Promise<undefined | { readonly recovered: true }>
  }
  /** Wraps the `fetch` that the official client uses: it tells the scheme which request a voucher is for. */
  fetch(fetch?: typeof globalThis.fetch): typeof globalThis.fetch
}

/**
 * Tabs for the public x402 clients. A voucher is bound to its request, which these clients do not show to a scheme: give
 * them `scheme.fetch()`. Without an open tab one is opened, if the client has the option `tabs`. Errors: `no_tab`,
 * `request_unknown`, and those of a call on a tab.
 */
export function nativeTabScheme(client: AgentClient, ...more: readonly never[]): NativeTabScheme {
  checkGiven('nativeTabScheme', 'client', client, KIND.fields)
  checkNoMore('nativeTabScheme', more)
  const open = new Map<string, TabProof>()
  // Only the fetch of this scheme knows it: a seller's offer cannot name a request.
  const mark = `${randomHex(16)}:`
  return {
    scheme: 'batch-settlement',
    async createPaymentPayload(x402Version, requirements, { maxAmountPerPayment } = {}) {
      const { [REQUEST]: request, ...extra } = { ...requirements.extra }
      if (typeof request !== 'string' || !request.startsWith(mark))
        throw new PaymentRequiredError('the scheme does not see the request: use its fetch', {
          code: 'request_unknown',
        })
      const most = maxAmountPerPayment === undefined ? null : BigInt(maxAmountPerPayment)
      const proof = await client.tabProof({ ...requirements, extra }, request.slice(mark.length), most)
      open.set(callIn(proof.payload), proof)
      return { x402Version, payload: { ...proof.payload } }
    },
    schemeHooks: {
      async onPaymentResponse({ paymentPayload, settleResponse, paymentRequired }) {
        const call = callIn(paymentPayload.payload)
        const proof = open.get(call)
        const answer = answerOf(settleResponse, paymentRequired)
        if (proof === undefined || answer === undefined) return undefined
        open.delete(call)
        return (await proof.settled(answer).catch(notCharged)) ? { recovered: true } : undefined
      },
    },
    fetch:
      (fetch = globalThis.fetch) =>
      async (input, init) => {
        const request = new Request(input, init)
        const text = await requestIn(request)
        const paid = withoutRequest(request)
        const response = await (paid.headers.has(SIGNATURE) ? sendPaid(fetch, paid) : fetch(paid))
        return text === undefined ? response : withRequest(response, `${mark}${text}`, client)
      },
  }
}

/** A voucher is not redirected to another origin. */
async function sendPaid(fetch: typeof globalThis.fetch, request: Request): Promise<Response> {
  const body = request.body === null ? null : new Uint8Array(await request.clone().arrayBuffer())
  return sendWithinOrigin(fetch, { request, body, caller: { request } })
}

/** Name of the member of an offer's `extra` that carries the request from `fetch` to the scheme. It never leaves the client. */
const REQUEST = 'farthingRequest'
const SIGNATURE = 'payment-signature'
const REQUIRED = 'payment-required'

/** A voucher by its tab and number. */
function callIn(payload: unknown): string {
  const { channelId, voucher } = fieldsOf(payload)
  return `${channelId}:${fieldsOf(voucher).seq}`
}

function answerOf(settled: object | undefined, required: object | undefined): NodeAnswer | undefined {
  if (settled !== undefined) {
    const said = fieldsOf(settled)
    return { status: 200, body: { receipt: { tab: fieldsOf(said.extra).receipt } }, settled: said }
  }
  return required === undefined ? undefined : { status: 402, body: fieldsOf(required) }
}

/** A service that failed is no error here: the caller of the official client sees the answer itself. */
function notCharged(error: unknown): boolean {
  if (error instanceof FarthingError && error.name === 'NotChargedError') return false
  throw error
}

/** The member `request` of a JSON body. Undefined if the body is none. */
async function requestIn(request: Request): Promise<string | undefined> {
  if (request.body === null) return ''
  try {
    const { request: text = '' } = fieldsOf(JSON.parse(await request.clone().text()))
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

async function withRequest(response: Response, text: string, { network }: AgentClient): Promise<Response> {
  const terms = decodeTerms(response.headers.get(REQUIRED))
  if (response.status !== 402 || terms === undefined || !Array.isArray(terms.accepts)) return response
  const accepts = terms.accepts.map(fieldsOf).map((offer) => {
    return isTabOffer(offer, network) ? { ...offer, extra: { ...fieldsOf(offer.extra), [REQUEST]: text } } : offer
  })
  const headers = new Headers(response.headers)
  headers.set(REQUIRED, base64Of({ ...terms, accepts }))
  return new Response(response.body, { status: response.status, headers })
}

function withoutRequest(request: Request): Request {
  const payment = decodeTerms(request.headers.get(SIGNATURE))
  if (payment === undefined) return request
  const accepted = fieldsOf(payment.accepted)
  const { [REQUEST]: _, ...extra } = { ...fieldsOf(accepted.extra) }
  const headers = new Headers(request.headers)
  headers.set(SIGNATURE, base64Of({ ...payment, accepted: { ...accepted, extra } }))
  return new Request(request, { headers })
}

function base64Of(fields: Readonly<Record<string, unknown>>): string {
  return paymentHeader({ ...fields })[1]
}

/** Entry of `spendControls.allowedAssets`. The official clients refuse an asset that is not listed there. */
export interface NativeAsset {
  readonly network: typeof NATIVE_NETWORK
  readonly asset: string
  readonly maxAmountPerPayment: string
}

/** The native coin for `spendControls.allowedAssets`, with at most `maxCoins` (decimal text) a payment. */
export function nativeAsset(maxCoins: string, network: NetworkName = 'mainnet'): NativeAsset {
  const { ticker, decimals } = factsOf(network)
  checkGiven('nativeAsset', 'maxCoins', maxCoins, KIND.text)
  const most = parseAmount(maxCoins, decimals)
  if (!most.ok) throw invalid('nativeAsset: maxCoins must be coins as decimal text')
  return { network: NATIVE_NETWORK, asset: ticker, maxAmountPerPayment: most.value.toString() }
}
