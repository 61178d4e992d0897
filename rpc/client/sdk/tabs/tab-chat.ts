import { taggedHashHex } from '../../../../consensus/crypto/hash.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { CHAT_LINE } from '../../../../marketplace/services/text/chat-line.ts'
import { GatheredChat } from '../../../chat/tab/gathered.ts'
import { EventReader } from '../../event-stream.ts'
import { fieldsOf, type NodeAnswer } from '../../http.ts'
import type { AgentClient, TabProof } from '../agent-client.ts'
import { decodeTerms, paymentHeader } from '../carriers.ts'
import { FarthingError } from '../errors.ts'
import { checkGiven, checkNoMore, KIND } from '../options.ts'
import { isTabOffer, tabPayment } from './tab-wire.ts'

type Fetch = typeof globalThis.fetch
type Fields = Readonly<Record<string, unknown>>

const CHATS = /\/chat\/completions$/
/** How often a chat gets a new voucher because the seller's price or numbers moved. */
const NEW_VOUCHERS_MAX = 3

/**
 * A `fetch` for clients of the OpenAI interface: their chats are paid from a tab with the node, within the limits of this client. The
 * receipt is checked and noted before the end of the answer is passed on. All other requests are sent as they are. Errors: `no_tab`, those
 * of a call on a tab, and `unverified` if the receipt is of another answer.
 */
export function tabChatFetch(client: AgentClient, fetch: Fetch = globalThis.fetch, ...more: readonly never[]): Fetch {
  checkGiven('tabChatFetch', 'client', client, KIND.fields)
  checkNoMore('tabChatFetch', more)
  return async (input, init) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    if (request.method !== 'POST' || !CHATS.test(url.pathname)) return fetch(input, init)
    url.searchParams.set('rail', 'tab')
    const body = await request.text()
    const send = (more: Readonly<Record<string, string>> = {}): Promise<Response> => {
      const headers = { 'content-type': 'application/json', accept: request.headers.get('accept') ?? '*/*', ...more }
      // Neither the voucher nor the chat goes on to another server.
      return fetch(url, { method: 'POST', headers, body, signal: request.signal, redirect: 'manual' })
    }
    return payChat(client, await send(), { body, send })
  }
}

interface SentChat {
  readonly body: string
  readonly send: (headers: Readonly<Record<string, string>>) => Promise<Response>
}

async function payChat(client: AgentClient, unpaid: Response, { body, send }: SentChat): Promise<Response> {
  let response = unpaid
  for (let left = NEW_VOUCHERS_MAX; response.status === 402 && left > 0; left--) {
    const offer = offerIn(client, response)
    if (offer === undefined) return response
    const proof = await client.tabProof(offer, CHAT_LINE + body)
    const [name, value] = paymentHeader(tabPayment(proof.payload, client.network))
    response = await send({ [name]: value })
    if (response.status !== 402) return noted(response, proof)
    const told = fieldsOf(await response.clone().json())
    const refusal = { ...told, code: fieldsOf(told.error).code }
    if (!(await proof.settled({ status: 402, body: refusal }))) return response
  }
  return response
}

function offerIn({ network }: AgentClient, { headers }: Response): Fields | undefined {
  const { accepts } = decodeTerms(headers.get('payment-required')) ?? {}
  return Array.isArray(accepts) ? accepts.map(fieldsOf).find((offer) => isTabOffer(offer, network)) : undefined
}

async function noted(response: Response, proof: TabProof): Promise<Response> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream && response.body !== null)
    return new Response(response.body.pipeThrough(watching(response.status, proof)), response)
  const text = await response.text()
  const { x_payment: payment, ...result } = readObject(text)
  if (payment !== undefined) await note({ status: response.status, payment: fieldsOf(payment), result }, proof)
  else if (response.ok) throw withoutReceipt()
  return new Response(text, response)
}

/** Passes a stream on. The piece with the receipt waits until that is checked. */
function watching(status: number, proof: TabProof): TransformStream<Uint8Array, Uint8Array> {
  const events = new EventReader()
  const decoder = new TextDecoder()
  const chat = new StreamedChat()
  let isNoted = false
  return new TransformStream({
    async transform(bytes, out) {
      for (const { data } of events.push(decoder.decode(bytes, { stream: true })) ?? []) {
        // Readers stop here, and would not see that the rest is missing.
        if (data === '[DONE]' && !isNoted) throw withoutReceipt()
        const payment = chat.take(readObject(data))
        if (payment === null) continue
        await note({ status, payment, result: chat.result(payment) }, proof)
        isNoted = true
      }
      out.enqueue(bytes)
    },
    flush() {
      if (!isNoted) throw withoutReceipt()
    },
  })
}

/** The call stays open: the same bytes may bring the answer of the seller. */
function withoutReceipt(): FarthingError {
  return new FarthingError('the answer ended without a receipt of the seller', { code: 'unverified' })
}

/** A chat as its pieces tell it. */
class StreamedChat {
  readonly #gathered = new GatheredChat()
  readonly #reasons = new Map<number, string>()
  #head: Fields = {}

  /** Takes a piece. The payment that it has; null if it has none. */
  take(chunk: Fields): Fields | null {
    const { choices, x_payment: payment } = chunk
    for (const choice of Array.isArray(choices) ? choices.map(fieldsOf) : []) {
      const index = Number(choice.index)
      this.#gathered.take(index, fieldsOf(choice.delta))
      if (typeof choice.finish_reason === 'string') this.#reasons.set(index, choice.finish_reason)
    }
    this.#head = chunk
    return payment === undefined ? null : fieldsOf(payment)
  }

  result({ usage }: Fields): Fields {
    const { id, created, model, x_platform } = this.#head
    const choices = this.#gathered.choices((index) => this.#reasons.get(index) ?? '')
    return { id, object: 'chat.completion', created, model, choices, usage, x_platform }
  }
}

interface PaidAnswer {
  readonly status: number
  readonly payment: Fields
  /** What the receipt has the hash of. */
  readonly result: Fields
}

/** Checks and notes the receipt of an answer. A chat that failed is told to the caller by its own answer. */
async function note({ status, payment, result }: PaidAnswer, proof: TabProof): Promise<void> {
  const receipt = fieldsOf(payment.receipt)
  const { outcome, resultHash } = fieldsOf(receipt.tab)
  const answer: NodeAnswer = {
    status,
    body: { receipt, error: 'the chat failed' },
    settled: fieldsOf(payment.settlement),
  }
  await proof.settled(answer).catch((error: unknown) => {
    if (!(error instanceof FarthingError && error.name === 'NotChargedError')) throw error
  })
  if (outcome === 0 && taggedHashHex('result', encodeText(JSON.stringify(result))) !== resultHash)
    throw new FarthingError('the receipt is of another answer', { code: 'unverified' })
}

function readObject(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}
