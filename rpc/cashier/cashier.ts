import type { ChainReader } from '../../consensus/chain/reader.ts'
import { merkleProof, TRANSACTION_TREE } from '../../consensus/crypto/merkle.ts'
import { fromHex, isHex, toHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import { fieldsOf } from '../../consensus/primitives/fields.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { closureOf, endText } from '../../marketplace/ledger/closures.ts'
import { ESCROWS, type Escrow } from '../../marketplace/ledger/escrow.ts'
import { readChannelPayment } from '../../marketplace/till/rails/dollar/channel/payment.ts'
import type { DollarIn } from '../../marketplace/till/rails/dollar/claim.ts'
import { readDollarPayment } from '../../marketplace/till/rails/dollar/payment.ts'
import { type DollarTerms, dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import type { Claim } from '../../marketplace/till/rails/native/claim.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { httpFault } from '../contract/http-faults.ts'
import { addressKey, holderOf } from '../edge/client-key.ts'
import { addressText, coinNumber, merkleProofToJson, moment } from '../json/chain-json.ts'
import { noService } from '../market/registry.ts'
import { refundOf } from '../market/requests.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import type { Handler, PlainAnswer, RequestOf } from '../server/answer.ts'
import { errorBody, errorHeaders } from '../server/faults.ts'
import { payFromChannel } from './channel-calls.ts'
import { NATIVE_SCHEME, nativeNetwork, STABLE_SCHEME, TAB_SCHEME } from './options.ts'
import type { CallOutcome, CallRoom, OfferedPayment, PaidCallRequest, Settlement } from './paid-call.ts'
import { type QuoteAnswer, quoteBook } from './quotes.ts'
import { endTab, payOnTab } from './tab-calls.ts'
import { type OfferedTab, readTabPayment } from './tab-payment.ts'

interface CallPlace {
  readonly node: NodeApi
  readonly market: MarketApi
  readonly offer: Offer
  readonly request: CallRequest
}

type CallRequest = RequestOf<'call'> | RequestOf<'callService'>

/** HTTP headers that carry a payment: that of x402 version 2, then that of version 1. */
export const PAYMENT_HEADERS = ['payment-signature', 'x-payment'] as const
/** Standard base64 with padding, as the official clients write it. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const HEADER_CHARS_MAX = 16_384
const IDEMPOTENCY_KEY_CHARS_MAX = 255
const JSON_TYPE = 'application/json; charset=utf-8'
const NO_STORE = { 'cache-control': 'no-store' }
const RETRY_SECONDS = '1'

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

/** `GET /api/x402/{serviceId}`: the quote of an empty call. Official clients ask with GET that their channel be closed. */
export const quoteService: Handler<'quoteService'> = (node, request) =>
  callNamed(node, { ...request, body: {} }, request.params.serviceId, (offered) =>
    (offered.rail === 'tab' && offered.refund !== null) ||
    (offered.rail === 'channel' && offered.payment.kind === 'refund')
      ? null
      : fault('pay/unreadable', { where: 'a GET', reason: 'it takes a refund alone; send a call with POST' }),
  )

function callNamed(
  node: NodeApi,
  request: CallRequest,
  serviceId: string,
  refuses: (offered: OfferedPayment) => Fault | null = () => null,
): PlainAnswer | Fault | Promise<PlainAnswer | Fault> {
  const { net } = request.query
  if (net !== undefined && net !== 'mainnet') {
    return fault('rpc/unsupported-network', { net, supported: ['mainnet'] })
  }
  const { market } = node
  if (market === null) return fault('rpc/no-market')
  const offer = market.shop.offer(serviceId)
  if (offer === undefined) return noService(market, serviceId)
  return answerCall({ node, market, offer, request }, refuses)
}

/**
 * Without a payment the answer is a 402 with the terms. Many refusals of a payment are a 402, too, which has options to pay
 * only if another payment would help.
 */
async function answerCall(
  place: CallPlace,
  refuses: (offered: OfferedPayment) => Fault | null,
): Promise<PlainAnswer | Fault> {
  const { node, market, offer, request } = place
  const offered = paymentOf(place)
  if (!offered.ok) return refused(place, offered.fault)
  const { request: text } = request.body
  if (offered.value === null) return quoted(quoteBook(node.chain, market).unpaid(offer, text, factsOf(request)))
  const refusal = refuses(offered.value)
  if (refusal !== null) return refused(place, refusal)
  const { 'idempotency-key': key = null } = request.headers
  if (key !== null && (key === '' || key.length > IDEMPOTENCY_KEY_CHARS_MAX))
    return fault('rpc/invalid-request', {
      fields: [`the header idempotency-key must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters`],
    })
  const client = holderOf(addressKey(request.address))
  const paid = { offer, request: text ?? '', payment: offered.value, idempotencyKey: key, client }
  return told(place, await carryOut(node, market, paid))
}

function paymentOf({ market, request }: CallPlace): Result<OfferedPayment | null> {
  const { payment } = request.body
  if (payment === undefined) return paymentInHeaders(request.headers, market)
  const { txId, secret } = payment
  return ok({ rail: 'native', txId: txId as TxId, secret: secret === undefined ? null : fromHex(secret) })
}

type Headers = Readonly<Record<string, string | undefined>>

/** The payment in the headers of a call. Faults: `pay/unreadable`, `pay/no-offer`. */
export function paymentInHeaders(headers: Headers, market: MarketApi): Result<OfferedPayment | null> {
  const name = PAYMENT_HEADERS.find((header) => headers[header] !== undefined)
  if (name === undefined) return ok(null)
  const decoded = decodeHeader(name, headers[name] as string)
  return decoded.ok ? readPayment(decoded.value, name, market) : decoded
}

/** Reads a decoded payment of any rail, in x402 version 1 or 2; `where` names its place in the request. */
export function readPayment(payment: unknown, where: string, market: MarketApi): Result<OfferedPayment> {
  const { stable, tabs, channels } = market
  const { scheme, accepted, payload } = fieldsOf(payment)
  const { scheme: acceptedScheme, network } = fieldsOf(accepted)
  const named = scheme ?? acceptedScheme
  if (named === NATIVE_SCHEME) return readNativePayload(fieldsOf(payload), where)
  if (channels && acceptedScheme === TAB_SCHEME && network !== nativeNetwork(market.shop.context.chain)) {
    const read = readChannelPayment(payment, where, channels.terms)
    return read.ok ? ok({ rail: 'channel', payment: read.value }) : read
  }
  if (named === TAB_SCHEME)
    return tabs
      ? readTabPayment(fieldsOf(payment), where, market)
      : fail(fault('pay/no-offer', { field: 'scheme', got: TAB_SCHEME, expected: NATIVE_SCHEME }))
  if (named !== STABLE_SCHEME)
    return unreadable(where, `its scheme is none of ${[NATIVE_SCHEME, STABLE_SCHEME, TAB_SCHEME].join(', ')}`)
  if (stable === null)
    return fail(fault('pay/no-offer', { field: 'scheme', got: STABLE_SCHEME, expected: NATIVE_SCHEME }))
  const read = readDollarPayment(payment, where, stable.terms)
  return read.ok ? ok({ rail: 'stable', payment: read.value }) : read
}

/** `where` names the payload's place in the request. Faults: `pay/unreadable`. */
export function readNativePayload(
  { txId, secret }: Readonly<Record<string, unknown>>,
  where: string,
): Result<Extract<OfferedPayment, { rail: 'native' }>> {
  if (typeof txId !== 'string' || !isHex(txId, 32))
    return unreadable(where, 'payload.txId must be 64 lower-case hex digits')
  if (secret === undefined || secret === null) return ok({ rail: 'native', txId: txId as TxId, secret: null })
  if (typeof secret !== 'string' || !isHex(secret, 32))
    return unreadable(where, 'payload.secret must be 64 lower-case hex digits')
  return ok({ rail: 'native', txId: txId as TxId, secret: fromHex(secret) })
}

function decodeHeader(name: string, value: string): Result<unknown> {
  if (value.length > HEADER_CHARS_MAX || !BASE64.test(value)) return unreadable(name, 'it is not standard base64')
  try {
    return ok(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64'))))
  } catch {
    return unreadable(name, 'it is not base64 of JSON')
  }
}

function unreadable(where: string, reason: string): Result<never> {
  return fail(fault('pay/unreadable', { where, reason }))
}

/** Carries out a paid call. A payment pays for one request of one service, over HTTP, MCP and A2A together. */
export async function carryOut(node: NodeApi, market: MarketApi, call: PaidCallRequest): Promise<CallOutcome> {
  const { payment, offer } = call
  const outcome = await payWith({ node, market }, call, payment)
  if (outcome.is !== 'refused') return outcome
  const meant = { agentId: market.shop.operator.agentId, serviceId: offer.definition.serviceId }
  return { ...outcome, fault: tellPayment(node, outcome.fault, payment, meant) }
}

function payWith(room: CallRoom, call: PaidCallRequest, payment: OfferedPayment): Promise<CallOutcome> {
  switch (payment.rail) {
    case 'native':
      return payNative(room, call, payment)
    case 'stable':
      return payDollar(room, call, payment)
    case 'channel':
      return payFromChannel(room, call, payment.payment)
    default:
      return payment.refund === null ? payOnTab(room, call, payment.payment) : endTab(room, call, payment.refund)
  }
}

async function payNative(
  { node, market }: CallRoom,
  { offer, request, client: from }: PaidCallRequest,
  { txId, secret }: Extract<OfferedPayment, { rail: 'native' }>,
): Promise<CallOutcome> {
  const { serviceId } = offer.definition
  const outcome = await market.till.settle({ serviceId, request, txId, secret, from })
  if (!outcome.ok) return { is: 'refused', fault: outcome.fault, charged: null, settlement: null, corrective: null }
  const { claim, replayed } = outcome.value
  if (claim.state === 'failed') {
    const refund = refundOf({ chain: node.chain, market }, claim)
    const message = claim.message.replace(/\.?$/, '. The payment goes back to its payer on chain: see refund.')
    return { is: 'failed', code: claim.reason, message, told: { refund }, settlement: null, replayed }
  }
  const receipt = nativeReceipt(node.chain, claim)
  const settlement = { success: true, transaction: txId, network: nativeNetwork(node.chain), payer: receipt.caller }
  const sent = (): void => void market.till.handedOver(claim)
  return { is: 'paid', result: claim.result as string, receipt, settlement, replayed, sent }
}

async function payDollar(
  { market }: CallRoom,
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
    return { is: 'refused', fault, charged: isUncharged(fault) ? false : null, settlement, corrective: null }
  }
  const { claim, replayed } = outcome.value
  const settlement = { success: true, transaction: claim.transaction, network, payer: claim.payer }
  const receipt = dollarReceipt(rail.terms, claim)
  const sent = (): void => void rail.till.handedOver(claim)
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

function nativeReceipt(
  chain: ChainReader,
  claim: Claim & { state: 'delivered' },
): { readonly caller: string } & Readonly<Record<string, unknown>> {
  const { params } = chain.ruleBook
  return {
    serviceId: claim.serviceId,
    caller: addressText(params.addressPrefix, claim.caller),
    amount: coinNumber(BigInt(claim.amount), params.decimals),
    txId: claim.txId,
    rail: 'native',
    asset: params.ticker,
    amountBaseUnits: claim.amount,
    resultHash: claim.resultHash,
    requestHash: claim.requestHash,
    durationMs: claim.durationMs,
    completedAt: moment(claim.finishedAtMs),
    ...paymentProof(chain, claim.txId),
  }
}

/** `txId` is the transaction on the other chain. */
function dollarReceipt({ asset, network }: DollarTerms, claim: DollarIn<'settled'>): object {
  return {
    serviceId: claim.serviceId,
    caller: claim.payer,
    amount: dollarsOf(asset, BigInt(claim.amount)),
    txId: claim.transaction,
    rail: 'stable',
    asset: asset.symbol,
    amountBaseUnits: claim.amount,
    network: network.word,
    resultHash: claim.resultHash,
    requestHash: claim.requestHash,
    durationMs: claim.durationMs,
    completedAt: moment(claim.settledAtMs),
  }
}

/** Empty while a reorganisation has unwound the payment's block. */
function paymentProof({ database }: ChainReader, txId: TxId): object {
  const location = database.location(txId)
  const blockId = location === undefined ? undefined : database.idAt(location.height)
  const entry = blockId === undefined ? undefined : database.entry(blockId)
  if (location === undefined || entry === undefined) return {}
  const ids = database.transactionIds(entry.id)?.map(fromHex)
  // The block was pruned, but its height and hash are still known.
  if (ids === undefined) return { blockHeight: location.height, blockHash: entry.id }
  const proof = merkleProofToJson(merkleProof(TRANSACTION_TREE, ids, location.index))
  return { blockHeight: location.height, blockHash: entry.id, proof: { header: toHex(entry.bytes), ...proof } }
}

function told(place: CallPlace, outcome: CallOutcome): PlainAnswer | Fault {
  const { requestId } = place.request
  switch (outcome.is) {
    case 'paid': {
      // The stored text goes in unchanged: `resultHash` of the receipt is the hash of these bytes.
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
      const { message, told: facts, settlement } = outcome
      const headers = { ...NO_STORE, ...settlementHeaders(settlement), ...replayHeader(outcome) }
      return { status, json: { error: message, code: api, requestId, ...facts }, headers }
    }
    case 'closing': {
      const headers = { 'cache-control': 'private, no-store', ...settlementHeaders(outcome.settlement) }
      return { status: 200, content: JSON.stringify(outcome.told), contentType: JSON_TYPE, headers }
    }
    default:
      return httpFault(outcome.fault.code).status === 402
        ? refused(place, outcome.fault, outcome)
        : withheld(place, outcome)
  }
}

/** Tells an answer that was given before. */
export function replayHeader({ replayed }: { readonly replayed: boolean }): Readonly<Record<string, string>> {
  return replayed ? { 'idempotent-replay': 'true' } : {}
}

/** The answer to a refusal that a new quote cannot mend, with what is known about the money. */
function withheld(
  { request: { requestId } }: CallPlace,
  { fault: cause, charged, settlement }: Extract<CallOutcome, { is: 'refused' }>,
): PlainAnswer | Fault {
  if (charged === null && settlement === null) return cause
  const headers = { ...NO_STORE, ...errorHeaders(cause), ...settlementHeaders(settlement) }
  const body = errorBody(cause, { requestId, accept: '', path: '' })
  return { status: httpFault(cause.code).status, json: { ...body, ...(charged === false && { charged }) }, headers }
}

/** Each x402 version reads the settlement from a header of its own. */
export function settlementHeaders(settlement: Settlement | null): Readonly<Record<string, string>> {
  if (settlement === null) return {}
  const value = Buffer.from(JSON.stringify(settlement)).toString('base64')
  // Tabs are of version 2, and their settlement is large.
  return settlement.extra === undefined
    ? { 'x-payment-response': value, 'payment-response': value }
    : { 'payment-response': value }
}

function refused(
  { node, market, offer, request }: CallPlace,
  cause: Fault,
  {
    rail = request.query.rail,
    corrective = null,
    settlement = null,
  }: Partial<Extract<CallOutcome, { is: 'refused' }>> = {},
): PlainAnswer {
  const retry = httpFault(cause.code).retry ? { 'retry-after': RETRY_SECONDS } : {}
  const headers = { ...settlementHeaders(settlement), ...retry }
  return quoted(quoteBook(node.chain, market).refused(offer, cause, { ...factsOf(request), rail, corrective }), headers)
}

function quoted({ body, header }: QuoteAnswer, headers: Readonly<Record<string, string>> = {}): PlainAnswer {
  const all = { ...NO_STORE, 'payment-required': header, ...headers }
  return { status: 402, content: body, contentType: JSON_TYPE, headers: all }
}

function factsOf({ requestId, baseUrl, params, query }: CallRequest) {
  const path = 'serviceId' in params ? `/api/x402/${params.serviceId}` : '/api/x402'
  // Some clients pay only if the resource is the very URL that they called, so the words stay in their order.
  const words = Object.entries(query).map(([name, value]) => `${name}=${value}`)
  const resource = `${baseUrl}${path}${words.length === 0 ? '' : `?${words.join('&')}`}`
  return { requestId, baseUrl, rail: query.rail, resource }
}

interface Meant {
  readonly agentId: string
  readonly serviceId: string
}

interface Retried extends Meant {
  readonly again: string
}

/** What becomes of a payment, in words; `deadline` is a height or a time. */
interface Prospect {
  readonly refund: string
  readonly deadline?: number | string
}

/** The request that an unused payment can be sent again with, by the code of the refusal. */
const AGAIN: Readonly<Partial<Record<FaultCode, string>>> = {
  'service/invalid-request': 'a corrected request',
  'service/unavailable': 'the same request later',
}

/** The last second of the year 9999; later dates have more digits in ISO 8601. */
const DATED_MAX = 253_402_300_799n

/** Adds to the refusal of a wrong request or a closed service what becomes of the payment, and that nothing of it was used. */
function tellPayment(node: NodeApi, cause: Fault, offered: OfferedPayment, meant: Meant): Fault {
  const again = AGAIN[cause.code]
  if (again === undefined) return cause
  const { payment, prospect } = leftOf(node, offered, { ...meant, again })
  if (cause.code === 'service/invalid-request') return fault('pay/unused', { ...cause.detail, payment, ...prospect })
  const reason = `${String(cause.detail.reason).replace(/\.$/, '')}. The payment ${payment} was not used. ${prospect.refund}`
  return fault(cause.code, { ...cause.detail, ...prospect, reason, payment })
}

/** Name of an unused payment, and what becomes of it. */
function leftOf(
  node: NodeApi,
  offered: OfferedPayment,
  meant: Retried,
): { readonly payment: string; readonly prospect: Prospect } {
  switch (offered.rail) {
    case 'native':
      return { payment: offered.txId, prospect: ofInvoke(node, offered.txId, meant) }
    case 'stable': {
      const { nonce, validBefore } = offered.payment.authorization
      return { payment: nonce, prospect: ofAuthorization(validBefore, meant.again, Date.now()) }
    }
    case 'channel':
      return { payment: offered.payment.voucher.channelId, prospect: ofVoucher(meant, 'channel') }
    default:
      return { payment: tabPaymentName(offered), prospect: ofVoucher(meant, 'tab') }
  }
}

function tabPaymentName({ payment, refund }: OfferedTab): string {
  return refund === null ? `${payment.tabId}:${payment.voucher.seq}` : refund.tabId
}

function ofVoucher({ again }: Retried, from: 'tab' | 'channel'): Prospect {
  const isSame = again === AGAIN['service/unavailable']
  const how = isSame ? 'The same voucher pays for' : 'A voucher with the same ceiling pays for'
  return { refund: `Nothing was charged to the ${from}. ${how} ${again}.` }
}

function ofAuthorization(validBefore: bigint, again: string, nowMs: number): Prospect {
  const usable = `Nothing was charged. Where the authorization itself is good, it pays for ${again}`
  if (validBefore > DATED_MAX) return { refund: `${usable}.` }
  const endMs = Number(validBefore) * 1_000
  if (endMs <= nowMs) return { refund: 'Nothing was charged, and the time of the authorization is over.' }
  const deadline = moment(endMs)
  return { refund: `${usable} until ${deadline}.`, deadline }
}

function ofInvoke({ chain, mempool }: NodeApi, txId: TxId, meant: Retried): Prospect {
  const escrow = chain.database.get(ESCROWS, txId)
  if (escrow !== undefined) return ofEscrow(chain, escrow, meant)
  if (closureOf(chain.database, txId) !== undefined)
    return { refund: `Its escrow is closed: ${endText(chain.database, txId)}.` }
  const waiting = mempool.get(txId)?.body
  if (waiting?.kind !== 'agent_invoke')
    return { refund: 'This node knows no escrow of it; once it is mined, the chain refunds it at its deadline.' }
  const { term } = waiting.payload
  return { refund: `${use(waiting.payload, meant)} ${term} blocks after its own, which it waits for.` }
}

function ofEscrow({ head: { header }, ruleBook }: ChainReader, escrow: Escrow, meant: Retried): Prospect {
  const { deadline } = escrow
  const dueMs = header.timeMs + (deadline - header.height) * ruleBook.at(header.height).block.spacingMs
  return { refund: `${use(escrow, meant)} at height ${deadline} (about ${moment(dueMs)}).`, deadline }
}

/** What a payment can still be used for. The height of the refund follows the text. */
function use(
  { agentId, serviceId, requestCommitment }: Pick<Escrow, 'agentId' | 'serviceId' | 'requestCommitment'>,
  meant: Retried,
): string {
  const isMeant = agentId === meant.agentId && serviceId === meant.serviceId
  if (!isMeant) return `It pays for ${serviceId} of ${agentId} alone; unused, it is refunded on chain`
  return requestCommitment === ZERO_HEX_32 || meant.again === AGAIN['service/unavailable']
    ? `Send it again with ${meant.again}; unused, it is refunded on chain`
    : 'It commits to one request: send it again with that one; unused, it is refunded on chain'
}
