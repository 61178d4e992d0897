import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail } from '../../../../consensus/primitives/result.ts'
import { CHAT_LINE } from '../../../../marketplace/services/text/chat-line.ts'
import { GatheredChat } from '../../../chat/tab/gathered.ts'
import { EventReader } from '../../event-stream.ts'
import { fieldsOf, type NodeAnswer, readAnswer } from '../../http.ts'
import type { AgentClient, TabProof } from '../agent-client.ts'
import { decodeTerms, paymentHeader } from '../carriers.ts'
import type { InterruptedPaymentError } from '../errors.ts'
import { checkGiven, checkNoMore, KIND } from '../options.ts'
import { interrupted } from '../settling.ts'
import { NotChargedError } from './tab-errors.ts'
import { hasReceipt } from './tab-seller.ts'
import { isTabOffer } from './tab-wire.ts'

type Fetch = typeof globalThis.fetch
type Fields = Readonly<Record<string, unknown>>

const CHATS = /\/chat\/completions$/
/** How often a chat gets a new voucher because the seller's price or numbers moved. */
const NEW_VOUCHERS_MAX = 3
/** Header in which the official client says how often it has repeated a request by itself. */
const REPEATS = 'x-stainless-retry-count'
/** The official client waits at most a minute before it repeats a request. */
const REPEATED_WITHIN_MS = 120_000

/**
 * A `fetch` for clients of the OpenAI interface: their chats are paid from a tab with the node, within the limits of this client. The
 * receipt is checked and noted before the end of the answer is passed on. All other requests are sent as they are. A chat whose answer does
 * not begin is asked for again with the same voucher, as `tab.call` does it, and so is one that the official client repeats by itself, which
 * it says in a header. A repeat without that header is a new chat with a voucher of its own: it cannot be told from a second chat of the same
 * words. Errors: `no_tab`, those of a call on a tab, and `InterruptedPaymentError` also for a stream that ends without a receipt.
 */
export function tabChatFetch(client: AgentClient, fetch: Fetch = globalThis.fetch, ...more: readonly never[]): Fetch {
  checkGiven('tabChatFetch', 'client', client, KIND.fields)
  checkNoMore('tabChatFetch', more)
  const unanswered = new Unanswered()
  return async (input, init) => {
    const request = new Request(input, init)
    if (request.method !== 'POST' || !CHATS.test(new URL(request.url).pathname)) return fetch(input, init)
    return new PaidChat({ client, fetch, unanswered, request, body: await request.text() }).pay()
  }
}

/** Vouchers of chats of which no answer was passed on. The official client repeats a request some times. */
class Unanswered {
  #chats: readonly { readonly body: string; readonly proof: TabProof; readonly atMs: number }[] = []

  add(body: string, proof: TabProof): void {
    this.#chats = [...this.#recent(), { body, proof, atMs: Date.now() }]
  }

  /** Takes one of the same bytes out. Each is an answer that its caller has not seen. */
  take(body: string): TabProof | undefined {
    const found = this.#recent().find((chat) => chat.body === body)
    this.#chats = this.#recent().filter((chat) => chat !== found)
    return found?.proof
  }

  #recent() {
    return this.#chats.filter(({ atMs }) => Date.now() - atMs < REPEATED_WITHIN_MS)
  }
}

interface ChatParts {
  readonly client: AgentClient
  readonly fetch: Fetch
  readonly unanswered: Unanswered
  /** Kept to the end of the answer: what is made from its signal holds that only weakly. */
  readonly request: Request
  readonly body: string
}

/** An answer of the seller, and what it means for the tab. */
interface Heard {
  readonly response: Response
  /** Null: a stream that has begun. */
  readonly answer: NodeAnswer | null
}

/** One chat of a client of the OpenAI interface. */
class PaidChat {
  readonly #parts: ChatParts

  constructor(parts: ChatParts) {
    this.#parts = parts
  }

  async pay(): Promise<Response> {
    const { request, body, unanswered } = this.#parts
    let proof = Number(request.headers.get(REPEATS)) > 0 ? unanswered.take(body) : undefined
    let terms: Response | null = null
    for (let left = NEW_VOUCHERS_MAX; ; left--) {
      if (proof === undefined) {
        terms ??= await this.#send()
        proof = left > 0 ? await this.#proofFor(terms) : undefined
        if (proof === undefined) return terms
      }
      const { response, answer } = await this.#ask(proof)
      if (answer === null) return this.#watched(response, proof)
      if (!(await this.#isAnew(answer, proof))) return response
      terms = response
      proof = undefined
    }
  }

  async #proofFor(terms: Response): Promise<TabProof | undefined> {
    const { client, body } = this.#parts
    const { accepts } = decodeTerms(terms.headers.get('payment-required')) ?? {}
    const offers = terms.status === 402 && Array.isArray(accepts) ? accepts.map(fieldsOf) : []
    const offer = offers.find((each) => isTabOffer(each, client.network))
    if (offer === undefined) return undefined
    void terms.body?.cancel().catch(() => {})
    return client.tabProof(offer, CHAT_LINE + body)
  }

  /** The answer to a voucher. */
  async #ask(proof: TabProof): Promise<Heard> {
    const { request, body, unanswered } = this.#parts
    let heard = null as Heard | null
    const send = async (payment: Fields): Promise<NodeAnswer | null> => {
      heard = await this.#send(paymentHeader(payment)).then(heardIn).catch(nothing)
      return heard === null ? null : (heard.answer ?? BEGUN)
    }
    try {
      await proof.ask({ url: request.url, signal: request.signal, send })
    } catch (error) {
      unanswered.add(body, proof)
      throw error
    }
    return heard as Heard
  }

  /** Takes an answer. True if the chat is to be paid with a new voucher. */
  async #isAnew(answer: NodeAnswer, proof: TabProof): Promise<boolean> {
    if (answer.status === 402) return proof.settled(answer)
    if (!hasReceipt(answer)) {
      this.#parts.unanswered.add(this.#parts.body, proof)
      if (answer.status < 300) throw this.#interrupted(proof)
      return false
    }
    await note(proof, answer)
    return false
  }

  #send(payment?: readonly [name: string, value: string]): Promise<Response> {
    const { request, body, fetch } = this.#parts
    const { signal } = request
    const url = new URL(request.url)
    url.searchParams.set('rail', 'tab')
    const headers = { 'content-type': 'application/json', accept: request.headers.get('accept') ?? '*/*' }
    const all = payment === undefined ? headers : { ...headers, [payment[0]]: payment[1] }
    // Neither the voucher nor the chat goes on to another server.
    return fetch(url, { method: 'POST', headers: all, body, signal, redirect: 'manual' })
  }

  /** Passes a stream on. The piece with the receipt waits until that is checked, and no stream ends well without one. */
  #watched(response: Response, proof: TabProof): Response {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const chat = new StreamedChat()
    const next = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw chat.isSettled || this.#parts.request.signal.aborted ? error : this.#interrupted(proof)
      })
      const answers = done ? [] : chat.take(value)
      if (answers === undefined || (done && !chat.isSettled)) throw this.#interrupted(proof)
      for (const answer of answers) await note(proof, answer)
      if (done) out.close()
      else out.enqueue(value)
    }
    const body = new ReadableStream<Uint8Array>({
      pull: (out) =>
        next(out).catch((error: unknown) => {
          out.error(error)
          void reader.cancel().catch(() => {})
        }),
      cancel: (reason) => reader.cancel(reason),
    })
    return new Response(body, response)
  }

  #interrupted({ payment }: TabProof): InterruptedPaymentError {
    return interrupted(payment, fail(fault('cli/node-unreachable', { url: this.#parts.request.url, advice: '' })))
  }
}

/** What the tab sees of a stream that has begun: it is no answer to ask for again. */
const BEGUN: NodeAnswer = { status: 200, body: { paid: true } }

const nothing = (): null => null

async function heardIn(response: Response): Promise<Heard> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (response.ok && isStream && response.body !== null) return { response, answer: null }
  const { body, ...rest } = await readAnswer(response.clone())
  const { x_payment: payment, ...result } = body
  return { response, answer: { ...rest, ...answerOf(response.status, { payment: fieldsOf(payment), result }) } }
}

/** An answer in the form in which a tab takes it. */
function answerOf(
  status: number,
  { payment: { receipt, settlement }, result }: { readonly payment: Fields; readonly result: Fields },
): NodeAnswer {
  const { code, message = 'the chat failed' } = fieldsOf(result.error)
  const settled = settlement === undefined ? {} : { settled: fieldsOf(settlement) }
  return { status, body: { ...result, receipt, result, code, error: message }, ...settled }
}

/** Checks and notes the receipt of an answer. That a chat failed is told to its caller by the answer itself. */
async function note(proof: TabProof, answer: NodeAnswer): Promise<void> {
  await proof.settled(answer).catch((error: unknown) => {
    if (!(error instanceof NotChargedError)) throw error
  })
}

/** A chat as its pieces tell it. */
class StreamedChat {
  readonly #events = new EventReader()
  readonly #decoder = new TextDecoder()
  readonly #gathered = new GatheredChat()
  readonly #reasons = new Map<number, string>()
  /** Whether a receipt has come. */
  isSettled = false

  /** Takes bytes. The answers whose receipts came with them; undefined if it is no stream of a chat. */
  take(bytes: Uint8Array): readonly NodeAnswer[] | undefined {
    const events = this.#events.push(this.#decoder.decode(bytes, { stream: true }))
    return events?.flatMap(({ data }) => this.#piece(readObject(data)))
  }

  #piece(piece: Fields): readonly NodeAnswer[] {
    const { choices, x_payment: payment } = piece
    for (const choice of Array.isArray(choices) ? choices.map(fieldsOf) : []) {
      const index = Number(choice.index)
      this.#gathered.take(index, fieldsOf(choice.delta))
      if (typeof choice.finish_reason === 'string') this.#reasons.set(index, choice.finish_reason)
    }
    if (payment === undefined) return []
    const told = fieldsOf(payment)
    const answer = answerOf(200, { payment: told, result: { ...this.#result(piece, told), error: piece.error } })
    if (!hasReceipt(answer)) return []
    this.isSettled = true
    return [answer]
  }

  #result({ id, created, model, x_platform }: Fields, { usage }: Fields): Fields {
    const choices = this.#gathered.choices((index) => this.#reasons.get(index) ?? '')
    return { id, object: 'chat.completion', created, model, choices, usage, x_platform }
  }
}

function readObject(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}
