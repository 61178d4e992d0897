import type { Chain } from '../../consensus/chain/chain.ts'
import { merkleProof, TRANSACTION_TREE } from '../../consensus/crypto/merkle.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault, faultRow } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { Settled } from '../../marketplace/checkout/checkout.ts'
import type { Claim } from '../../marketplace/checkout/claim.ts'
import type { Offer } from '../../marketplace/checkout/operator.ts'
import { callGap } from '../../marketplace/facts/known-past.ts'
import { type Answer, type ApiRequest, answer, type Handler } from '../answer.ts'
import { addressText, coinNumber, merkleProofToJson, moment } from '../json.ts'
import type { MarketApi, NodeApi } from '../node.ts'
import { QuoteBook } from '../quotes.ts'
import { nativeUsd, protocolDocument, registryEntries } from '../registry.ts'
import { refundOf, requestStatus, unredeemedStatus } from '../requests.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const NO_STORE = { 'cache-control': 'no-store' }
const PAGE_DEFAULT = 50
const SUGGESTIONS_MAX = 3
const RETRY_SECONDS = '1'

interface CallBody {
  readonly serviceId?: string
  readonly request?: string
  readonly payment?: { readonly txId: TxId; readonly secret?: string }
}

const QUOTE_BOOKS = new WeakMap<MarketApi, QuoteBook>()

function quoteBook(chain: Chain, market: MarketApi): QuoteBook {
  let book = QUOTE_BOOKS.get(market)
  if (book === undefined) {
    book = new QuoteBook(chain, market)
    QUOTE_BOOKS.set(market, book)
  }
  return book
}

/** `POST /api/x402`: the service is named in the body. */
export const call: Handler = (node, request) => callNamed(node, request, (request.body as CallBody).serviceId ?? '')

/** `POST /api/x402/{serviceId}`. */
export const callService: Handler = (node, request) => callNamed(node, request, request.params.serviceId as string)

function callNamed(node: NodeApi, request: ApiRequest, serviceId: string): Answer | Fault | Promise<Answer | Fault> {
  const { net } = request.query
  if (net !== undefined && net !== 'mainnet') {
    return fault('rpc/unsupported-network', { net: String(net), supported: ['mainnet'] })
  }
  if (node.market === null) return fault('rpc/no-market')
  const offer = node.market.shop.offer(serviceId)
  if (offer === undefined) {
    return fault('service/not-found', {
      serviceId: serviceId.slice(0, 64),
      suggestions: suggestions(node.market, serviceId),
    })
  }
  const { payment, request: text } = request.body as CallBody
  if (payment !== undefined) return settle({ node, market: node.market, offer }, request, { payment, text: text ?? '' })
  const content = quoteBook(node.chain, node.market).unpaid(offer, text, request)
  return { status: 402, content, contentType: JSON_TYPE, headers: NO_STORE }
}

interface CallContext {
  readonly node: NodeApi
  readonly market: MarketApi
  readonly offer: Offer
}

async function settle(
  context: CallContext,
  request: ApiRequest,
  { payment, text }: { readonly payment: NonNullable<CallBody['payment']>; readonly text: string },
): Promise<Answer | Fault> {
  const { market, offer, node } = context
  const secret = payment.secret === undefined ? null : fromHex(payment.secret)
  const outcome = await market.checkout.settle({
    serviceId: offer.definition.serviceId,
    request: text,
    txId: payment.txId,
    secret,
  })
  if (outcome.ok) return settled(context, outcome.value, request)
  const { status } = faultRow(outcome.fault.code)
  if (status !== 402) return outcome.fault
  const content = quoteBook(node.chain, market).refused(offer, outcome.fault, request)
  const retry = faultRow(outcome.fault.code).retry ? { 'retry-after': RETRY_SECONDS } : {}
  return { status, content, contentType: JSON_TYPE, headers: { ...NO_STORE, ...retry } }
}

/** The answer of a call that was carried out: result and receipt, or the failure with its refund. */
function settled({ node, market }: CallContext, { claim, replayed }: Settled, { requestId }: ApiRequest): Answer {
  const headers = { ...NO_STORE, ...(replayed ? { 'idempotent-replay': 'true' } : {}) }
  if (claim.state === 'failed') {
    const { api, status } = faultRow(claim.reason)
    const refund = refundOf({ chain: node.chain, market }, claim)
    return { status, json: { error: claim.message, code: api, requestId, refund }, headers }
  }
  // The result is spliced in as stored, so that its bytes are those that the receipt's hash names.
  const receipt = JSON.stringify(receiptOf(node, claim))
  return {
    status: 200,
    content: `{"paid":true,"result":${claim.result},"receipt":${receipt}}`,
    contentType: JSON_TYPE,
    headers,
  }
}

function receiptOf({ chain }: NodeApi, claim: Claim & { state: 'delivered' }): object {
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

/** Where the payment was mined, and the proof of it; left out while a reorganisation has taken it off the chain. */
function paymentProof({ database }: Chain, txId: TxId): object {
  const location = database.location(txId)
  const blockId = location === undefined ? undefined : database.idAt(location.height)
  const entry = blockId === undefined ? undefined : database.entry(blockId)
  if (location === undefined || entry === undefined) return {}
  const ids = database.transactionIds(entry.id)?.map(fromHex)
  // The block was pruned: where it was mined is known still.
  if (ids === undefined) return { blockHeight: location.height, blockHash: entry.id }
  const proof = merkleProofToJson(merkleProof(TRANSACTION_TREE, ids, location.index))
  return { blockHeight: location.height, blockHash: entry.id, proof: { header: toHex(entry.bytes), ...proof } }
}

/** The free sample of a service. */
export const getExample: Handler = ({ market }, { params }) => {
  const serviceId = params.serviceId as string
  const definition = market?.shop.offer(serviceId)?.definition
  if (definition === undefined) return fault('service/not-found', { serviceId: serviceId.slice(0, 64) })
  const { example, requestFormat, sample, resultSchema } = definition
  return answer({ serviceId, request: example, requestFormat, result: sample, resultSchema })
}

/** The registry, filtered. */
export const listServices: Handler = (node, { query, baseUrl }) => {
  const all = registryEntries(node, baseUrl)
  const word = String(query.q ?? '').toLowerCase()
  const services = all.filter(
    (entry) =>
      (query.capability === undefined || entry.capability === query.capability) &&
      `${entry.serviceId} ${entry.name} ${entry.description}`.toLowerCase().includes(word),
  )
  return answer({
    network: 'mainnet',
    networkName: node.chain.ruleBook.params.name,
    chainId: node.chain.network.chainId,
    nativeUsd: nativeUsd(node),
    updatedAt: moment(node.chain.head.header.timeMs),
    nodeOperatedCount: all.length,
    count: services.length,
    services,
  })
}

/** The payment protocol document. */
export const getProtocol: Handler = (node, { baseUrl }) => answer(protocolDocument(node, baseUrl))

/** Recent paid calls. */
export const listRequests: Handler = async ({ chain, market }, { query }) => {
  if (market === null) return fault('rpc/no-market')
  const cursor = query.cursor === undefined ? null : String(query.cursor)
  if (cursor !== null && !/^[0-9]{15}\/[0-9a-f]{64}$/.test(cursor))
    return fault('rpc/invalid-request', { fields: ['cursor'] })
  const page = await market.store.recent(Number(query.limit ?? PAGE_DEFAULT), cursor)
  return answer({
    requests: page.claims.map((claim) => requestStatus({ chain, market }, claim)),
    nextCursor: page.nextCursor,
  })
}

/** One paid call. */
export const getRequest: Handler = async ({ chain, market }, { params }) => {
  if (market === null) return fault('rpc/no-market')
  const txId = params.txId as TxId
  const claim = await market.store.get(txId)
  const status =
    claim === undefined ? unredeemedStatus({ chain, market }, txId) : requestStatus({ chain, market }, claim)
  return status === undefined ? (callGap(chain, txId) ?? fault('rpc/request-not-found', { txId })) : answer(status)
}

/** Ids that share the most with a mistyped one. */
function suggestions({ shop }: MarketApi, serviceId: string): readonly string[] {
  const words = serviceId
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2 && word !== 'node')
  const score = (id: string): number => words.filter((word) => id.includes(word)).length
  const ids = shop.offers.map(({ definition }) => definition.serviceId as string)
  return ids
    .filter((id) => score(id) > 0)
    .sort((a, b) => score(b) - score(a))
    .slice(0, SUGGESTIONS_MAX)
}
