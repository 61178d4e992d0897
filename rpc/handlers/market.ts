import type { Chain } from '../../consensus/chain/chain.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { meantName } from '../../consensus/primitives/likeness.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { callGap } from '../../marketplace/queries/known-past.ts'
import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { type CallOutcome, carryOut, type Settlement } from '../cashier/cashier.ts'
import { type OfferedPayment, paymentInHeaders } from '../cashier/payments.ts'
import { type QuoteAnswer, QuoteBook } from '../cashier/quotes.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { REQUEST_STATUS } from '../contract/market.ts'
import type { Static } from '../contract/schema.ts'
import { matching } from '../discovery/listings.ts'
import { addressKey, holderOf } from '../edge/client-key.ts'
import { moment } from '../json/chain-json.ts'
import { nativeUsd, protocolDocument, registryEntries } from '../market/registry.ts'
import { requestStatus, unredeemedStatus } from '../market/requests.ts'
import { type AnyClaim, isNative, recentOfBoth, stableStatus } from '../market/stable-requests.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import { answer, type Handler, type PlainAnswer, type RequestOf } from '../server/answer.ts'
import { badCursor } from '../server/at-head.ts'
import { errorBody, errorHeaders } from '../server/faults.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const NO_STORE = { 'cache-control': 'no-store' }
const PAGE_DEFAULT = 50
const SUGGESTIONS_MAX = 3
const ID_START = /^node-/
/** Maximum characters of a mistyped id that are compared. */
const ASKED_CHARS_MAX = 64
const RETRY_SECONDS = '1'
const IDEMPOTENCY_KEY_CHARS_MAX = 255

type CallRequest = RequestOf<'call'> | RequestOf<'callService'>

const QUOTE_BOOKS = new WeakMap<MarketApi, QuoteBook>()

/** The quote book of a market. All doors share it, so that they quote the same. */
export function quoteBook(chain: Chain, market: MarketApi): QuoteBook {
  let book = QUOTE_BOOKS.get(market)
  if (book === undefined) {
    book = new QuoteBook(chain, market)
    QUOTE_BOOKS.set(market, book)
  }
  return book
}

/** `POST /api/x402`: the service is named in the body. */
export const call: Handler<'call'> = (node, request) => callNamed(node, request, request.body.serviceId)

/** `POST /api/x402/{serviceId}`. */
export const callService: Handler<'callService'> = (node, request) => {
  const serviceId = request.params.serviceId
  const { serviceId: named = serviceId } = request.body
  return named === serviceId
    ? callNamed(node, request, serviceId)
    : fault('rpc/invalid-request', { fields: [`serviceId is ${named}, and the path names ${serviceId}`] })
}

function callNamed(
  node: NodeApi,
  request: CallRequest,
  serviceId: string,
): PlainAnswer | Fault | Promise<PlainAnswer | Fault> {
  const { net } = request.query
  if (net !== undefined && net !== 'mainnet') {
    return fault('rpc/unsupported-network', { net, supported: ['mainnet'] })
  }
  const { market } = node
  if (market === null) return fault('rpc/no-market')
  const offer = market.shop.offer(serviceId)
  if (offer === undefined) return noService(market, serviceId)
  const place = { node, market, offer, request }
  const offered = paymentOf(place)
  if (!offered.ok) return refused(place, offered.fault)
  if (offered.value !== null) return pay(place, offered.value)
  const text = request.body.request
  return quoted(quoteBook(node.chain, market).unpaid(offer, text, factsOf(request)))
}

/** The fault for an unknown service, with suggestions. */
export function noService(market: MarketApi, serviceId: string): Fault {
  return fault('service/not-found', { serviceId: serviceId.slice(0, 64), suggestions: suggestions(market, serviceId) })
}

interface CallPlace {
  readonly node: NodeApi
  readonly market: MarketApi
  readonly offer: Offer
  readonly request: CallRequest
}

function factsOf({ requestId, baseUrl, query }: CallRequest) {
  return { requestId, baseUrl, rail: query.rail }
}

function paymentOf({ market, request }: CallPlace): Result<OfferedPayment | null> {
  const { payment } = request.body
  if (payment === undefined) return paymentInHeaders(request.headers, market)
  const { txId, secret } = payment
  return ok({ rail: 'native', txId: txId as TxId, secret: secret === undefined ? null : fromHex(secret) })
}

async function pay(place: CallPlace, payment: OfferedPayment): Promise<PlainAnswer | Fault> {
  const { node, market, offer, request } = place
  const key = request.headers['idempotency-key']
  if (key !== undefined && (key === '' || key.length > IDEMPOTENCY_KEY_CHARS_MAX))
    return fault('rpc/invalid-request', {
      fields: [`the header idempotency-key must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters`],
    })
  const text = request.body.request ?? ''
  const client = holderOf(addressKey(request.address))
  const outcome = await carryOut(node, market, { offer, request: text, payment, idempotencyKey: key ?? null, client })
  return told(place, outcome)
}

function told(place: CallPlace, outcome: CallOutcome): PlainAnswer | Fault {
  const { requestId } = place.request
  switch (outcome.is) {
    case 'paid': {
      // The stored bytes go out unchanged, since the receipt names their hash.
      const content = `{"paid":true,"result":${outcome.result},"receipt":${JSON.stringify(outcome.receipt)}}`
      const headers = {
        'cache-control': 'private, no-store',
        ...settlementHeaders(outcome.settlement),
        ...replayHeader(outcome),
      }
      return { status: 200, content, contentType: JSON_TYPE, headers, sent: outcome.sent }
    }
    case 'failed': {
      const { api, status } = httpFault(outcome.code)
      const { message, refund } = outcome
      const headers = { ...NO_STORE, ...replayHeader(outcome) }
      return { status, json: { error: message, code: api, requestId, refund }, headers }
    }
    default:
      return httpFault(outcome.fault.code).status === 402 ? refused(place, outcome.fault) : withheld(place, outcome)
  }
}

function replayHeader({ replayed }: { readonly replayed: boolean }): Readonly<Record<string, string>> {
  return replayed ? { 'idempotent-replay': 'true' } : {}
}

/** A refusal without a new quote, which would not help. It tells what is known about the money. */
function withheld(
  { request: { requestId } }: CallPlace,
  { fault: cause, charged, settlement }: Extract<CallOutcome, { is: 'refused' }>,
): PlainAnswer | Fault {
  if (charged === null && settlement === null) return cause
  const headers = { ...NO_STORE, ...errorHeaders(cause), ...(settlement === null ? {} : settlementHeaders(settlement)) }
  const body = errorBody(cause, { requestId, accept: '', path: '' })
  return { status: httpFault(cause.code).status, json: { ...body, ...(charged === false && { charged }) }, headers }
}

/** The settlement in the headers of both x402 versions. */
function settlementHeaders(settlement: Settlement): Readonly<Record<string, string>> {
  const value = Buffer.from(JSON.stringify(settlement)).toString('base64')
  return { 'x-payment-response': value, 'payment-response': value }
}

function refused({ node, market, offer, request }: CallPlace, cause: Fault): PlainAnswer {
  const retry = httpFault(cause.code).retry ? { 'retry-after': RETRY_SECONDS } : {}
  return quoted(quoteBook(node.chain, market).refused(offer, cause, factsOf(request)), retry)
}

function quoted({ body, header }: QuoteAnswer, headers: Readonly<Record<string, string>> = {}): PlainAnswer {
  const all = { ...NO_STORE, 'payment-required': header, ...headers }
  return { status: 402, content: body, contentType: JSON_TYPE, headers: all }
}

/** The free sample of a service. */
export const getExample: Handler<'getExample'> = ({ market }, { params }) => {
  const serviceId = params.serviceId
  const definition = market?.shop.offer(serviceId)?.definition
  if (definition === undefined)
    return market === null ? fault('service/not-found', { serviceId }) : noService(market, serviceId)
  const { example, requestFormat, sample, resultSchema } = definition
  return answer({ serviceId, sample: true, request: example, requestFormat, result: sample, resultSchema })
}

/** The services of the registry that match a filter. */
export const listServices: Handler<'listServices'> = (node, { query, baseUrl }) => {
  const all = registryEntries(node, baseUrl)
  const [q, capability] = [query.q ?? query.query, query.capability].map((value) =>
    value === undefined ? undefined : String(value),
  )
  const services = matching(node, all, (entry) => entry, { q, capability })
  return answer({
    network: 'mainnet',
    networkName: node.chain.ruleBook.params.name,
    // All networks have chain id 1. They differ by their genesis.
    chainId: node.chain.network.chainId as 1,
    nativeUsd: nativeUsd(node),
    updatedAt: moment(node.chain.head.header.timeMs),
    nodeOperatedCount: all.length,
    count: services.length,
    services,
  })
}

/** The payment protocol document. */
export const getProtocol: Handler<'getProtocol'> = (node, { baseUrl }) => answer(protocolDocument(node, baseUrl))

/** Recent paid calls. */
export const listRequests: Handler<'listRequests'> = async ({ chain, market }, { query }) => {
  if (market === null) return fault('rpc/no-market')
  const cursor = query.cursor ?? null
  if (cursor !== null && !/^[0-9]{15}\/[0-9a-f]{64}$/.test(cursor)) return badCursor()
  const serviceId = query.serviceId
  const page = await recentOfBoth(market, { limit: query.limit ?? PAGE_DEFAULT, cursor, serviceId })
  return answer({
    requests: page.claims.map((claim) => statusOf(chain, market, claim)),
    nextCursor: page.nextCursor,
  })
}

function statusOf(chain: Chain, market: MarketApi, claim: AnyClaim): Static<typeof REQUEST_STATUS> {
  return isNative(claim) ? requestStatus({ chain, market }, claim) : stableStatus(market.stable as DollarRail, claim)
}

/** One paid call on either rail. */
export const getRequest: Handler<'getRequest'> = async ({ chain, market }, { params }) => {
  if (market === null) return fault('rpc/no-market')
  const txId = params.txId as TxId
  const claim: AnyClaim | undefined = (await market.store.get(txId)) ?? (await market.stable?.store.get(txId))
  const status = claim === undefined ? unredeemedStatus({ chain, market }, txId) : statusOf(chain, market, claim)
  return status === undefined ? (callGap(chain, txId) ?? fault('rpc/request-not-found', { txId })) : answer(status)
}

/** Ids for a mistyped one: first the one with the nearest spelling, then those that share the most words. */
export function suggestions({ shop }: MarketApi, serviceId: string): readonly string[] {
  const asked = serviceId.toLowerCase().slice(0, ASKED_CHARS_MAX)
  const words = asked.split(/[^a-z0-9]+/).filter((word) => word.length > 2 && word !== 'node')
  const score = (id: string): number => words.filter((word) => id.includes(word)).length
  const ids = shop.offers.map(({ definition }) => definition.serviceId as string)
  const sharing = ids.filter((id) => score(id) > 0).sort((a, b) => score(b) - score(a))
  // Compare without the common prefix, which would make different ids look alike.
  const spelled = meantName(
    asked.replace(ID_START, ''),
    ids.map((id) => id.replace(ID_START, '')),
  )
  const meant = ids.filter((id) => id.replace(ID_START, '') === spelled)
  return [...new Set([...meant, ...sharing])].slice(0, SUGGESTIONS_MAX)
}
