import { toHex } from '../../../../consensus/primitives/bytes.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import type { Result } from '../../../../consensus/primitives/result.ts'
import { tabQueryMessage } from '../../../../consensus/tx/tab-messages.ts'
import { askNode, expectOk, fieldsOf, type NodeAnswer } from '../../http.ts'
import { paymentHeader } from '../carriers.ts'
import { PaymentRequiredError } from '../errors.ts'
import { withWord } from '../quotes.ts'
import { errorOfAnswer, errorOfFault, isPassing, must } from '../refusals.ts'
import type { Quote } from '../shapes.ts'
import { isOver, type Patience, pause, whileReading } from '../waiting.ts'
import type { TabKey } from './tab-key.ts'
import type { TabParts } from './tab-purse.ts'
import { readReceipt } from './tab-receipts.ts'
import type { CallNote, TabReceiptJson } from './tab-types.ts'
import { readState, readTabOffer, type SaidState, type TabOffer, tabPayment, voucherPayload } from './tab-wire.ts'

const RETRY_MS = { least: 100, most: 5_000 }
/** A voucher goes to no other address than the seller's: what answers there must not send it on. */
const TO_THE_SELLER = { redirect: 'manual' } as const
/** Receipts of one page. */
const PAGE = 200
/** So many receipts must come in the time for an answer. */
const RECEIPTS_IN_TIME = 10_000

/** How a call gets to its seller, where that is not by this client itself. */
export interface TabCarrier {
  /** Address of the server that it takes the call to. Null if it is not known. */
  readonly url: string | null
  /** Sends the call with this payment once. */
  readonly carry: (payment: Readonly<Record<string, unknown>>) => Promise<Result<NodeAnswer>>
  readonly signal: AbortSignal | undefined
}

/** Speaks with the seller of a tab. Believes nothing, and signs nothing but queries. */
export class TabSeller {
  readonly #parts: TabParts

  constructor(parts: TabParts) {
    this.#parts = parts
  }

  /** The price of a call on a tab. Errors: `no_tab_offer`, `unavailable`, `request_unusable`, and those of the node. */
  async offer(serviceId: string, request: string): Promise<TabOffer> {
    const answer = await this.#post(serviceId, request, {})
    if (!answer.ok) throw errorOfFault(answer.fault)
    if (answer.value.status !== 402) throw errorOfAnswer(answer.value)
    const offer = readTabOffer(answer.value.body, this.#parts.facts)
    const { available, unavailableReason } = answer.value.body
    if (offer === undefined || offer.serviceId !== serviceId) {
      const isClosed = available === false
      const message = isClosed ? `${serviceId} is unavailable: ${unavailableReason}` : `${serviceId} takes no tabs`
      throw new PaymentRequiredError(message, { code: isClosed ? 'unavailable' : 'no_tab_offer', status: 402 })
    }
    checkOffered(offer, answer.value.body)
    return offer
  }

  /** The agent that sells the service of a call at this client's node; null if it does not say. */
  async agentOf({ serviceId }: CallNote): Promise<string | null> {
    const answer = await this.#post(serviceId, '', {})
    if (!answer.ok) return null
    const { accepts, offers } = answer.value.body
    const named = [accepts, offers].flatMap((list) => (Array.isArray(list) ? list.map((each) => fieldsOf(each)) : []))
    const ids = named.map(({ extra }) => fieldsOf(extra).agentId)
    return (ids.find((id) => typeof id === 'string') as string | undefined) ?? null
  }

  /** Asks with the same bytes until there is a final answer, or time is up. */
  async call(call: CallNote, patience: Patience, carrier: TabCarrier | null): Promise<Result<NodeAnswer>> {
    const payment = tabPayment(voucherPayload(call), this.#parts.facts)
    const own = () => this.#post(call.serviceId, call.request, paymentHeaders(payment))
    for (let waitMs = RETRY_MS.least; ; waitMs = Math.min(2 * waitMs, RETRY_MS.most)) {
      const answer = await (carrier === null ? own() : carrier.carry(payment))
      if ((answer.ok && isFinal(answer.value)) || isOver(patience)) return answer
      const asked = answer.ok ? (answer.value.retryAfterMs ?? 0) : 0
      await pause(Math.min(Math.max(waitMs, asked), Math.max(0, patience.untilMs - Date.now())), patience.signal)
    }
  }

  /** How the tab stands, by the seller's word. Null if it says nothing that this client understands. */
  async state(tabId: string, key: TabKey): Promise<SaidState | null> {
    const query = await this.#query(tabId, 'state', key)
    const body = must(await this.#get(`/api/tabs/${tabId}?${query}`))
    const { state, voucher, lastReceipt } = body
    return readState({ channelState: state, voucherState: voucher, lastReceipt })
  }

  /** Receipts from a number on, as they came; at most `most`. */
  async receipts(tabId: string, key: TabKey, from: number, most: number): Promise<readonly TabReceiptJson[]> {
    const found: TabReceiptJson[] = []
    let [patience, renewed] = [whileReading(this.#parts.patience()), 0]
    for (let next: number | null = from; next !== null && found.length < most && !isOver(patience); ) {
      const first: number = next
      const query = await this.#query(tabId, 'state', key)
      query.set('from', String(next))
      query.set('limit', String(PAGE))
      const body = must(await this.#get(`/api/tabs/${tabId}/receipts?${query}`))
      const listed = Array.isArray(body.receipts) ? body.receipts.slice(0, PAGE).map(readReceipt) : []
      const page = listed.filter((receipt) => receipt !== undefined && receipt.n >= first)
      found.push(...(page as TabReceiptJson[]))
      const told = body.next
      next = typeof told === 'number' && told > first && told <= first + PAGE && page.length > 0 ? told : null
      if (found.length - renewed < RECEIPTS_IN_TIME) continue
      patience = whileReading(this.#parts.patience())
      renewed = found.length
    }
    return found
  }

  /** Asks the seller to claim and close. The id of its claim, null if it sends that later; undefined if it will not. */
  async refund(tabId: string, serviceId: string, key: TabKey): Promise<string | null | undefined> {
    const { timeMs, signature } = await signedQuery(this.#parts, { tabId, what: 'refund', key })
    const payload = { type: 'refund', channelId: tabId, timeMs, signature }
    const headers = paymentHeaders(tabPayment(payload, this.#parts.facts))
    const path = `/api/x402/${encodeURIComponent(serviceId)}?rail=tab`
    const { baseUrl } = this.#parts.client
    const answer = await askNode(baseUrl, path, { headers, ...TO_THE_SELLER }, this.#parts.transport)
    if (!answer.ok || answer.value.status !== 200) return undefined
    const { success, transaction } = answer.value.settled ?? {}
    if (success === false) return undefined
    return typeof transaction === 'string' && transaction !== '' ? transaction : null
  }

  #post(serviceId: string, request: string, headers: Readonly<Record<string, string>>): Promise<Result<NodeAnswer>> {
    const path = `/api/x402/${encodeURIComponent(serviceId)}?rail=tab`
    const all = { 'content-type': 'application/json', ...headers }
    const init = { method: 'POST', headers: all, body: JSON.stringify({ request }), ...TO_THE_SELLER }
    return askNode(this.#parts.client.baseUrl, path, init, this.#parts.transport)
  }

  async #get(path: string): Promise<Result<NodeAnswer['body']>> {
    return expectOk(await askNode(this.#parts.client.baseUrl, path, TO_THE_SELLER, this.#parts.transport))
  }

  async #query(tabId: string, what: 'state', key: TabKey): Promise<URLSearchParams> {
    const { timeMs, signature } = await signedQuery(this.#parts, { tabId, what, key })
    return new URLSearchParams({ timeMs: String(timeMs), signature })
  }
}

async function signedQuery(
  { facts }: TabParts,
  { tabId, what, key }: { readonly tabId: string; readonly what: 'state' | 'refund'; readonly key: TabKey },
): Promise<{ readonly timeMs: number; readonly signature: string }> {
  const timeMs = Date.now()
  const message = tabQueryMessage(signingNetworkOf(facts), { tabId: tabId as TxId, what, timeMs })
  return { timeMs, signature: toHex(await key.sign(message)) }
}

/** The network that keys of tabs sign for. */
export function signingNetworkOf({ chainId, genesis }: TabParts['facts']) {
  return { chainId, genesis: genesis as never }
}

function paymentHeaders(payment: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const [name, value] = paymentHeader(payment)
  return { [name]: value }
}

/** Code of a service that is closed: the seller took no call. */
export const UNAVAILABLE = 'service_unavailable'

/** Whether asking again with the same bytes would bring no other answer. */
export function isFinal(answer: NodeAnswer): boolean {
  return hasReceipt(answer) || answer.body.code === UNAVAILABLE || !isPassing(answer)
}

/** Whether an answer has the receipt of a call, delivered or failed. */
export function hasReceipt({ body }: NodeAnswer): boolean {
  return fieldsOf(fieldsOf(body.receipt).tab).signature !== undefined
}

/** A closed service is reported first, since no other request would help. */
function checkOffered(offer: TabOffer, body: NodeAnswer['body']): void {
  const { available, unavailableReason } = offer
  const word = withWord({ available, unavailableReason } as Quote, body)
  if (!word.available) {
    const message = `${offer.serviceId} is unavailable: ${word.unavailableReason}`
    throw new PaymentRequiredError(message, { code: 'unavailable' })
  }
  if (word.requestError === null) return
  const message = `the request is unusable: ${word.requestError}`
  throw new PaymentRequiredError(message, { code: 'request_unusable', details: word.requestDetails })
}
