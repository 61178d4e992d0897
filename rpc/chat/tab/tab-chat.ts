import { randomUUID } from 'node:crypto'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ChatChoice, ChatOutcome, PlatformReport } from '../../../marketplace/chat/call.ts'
import { TABS } from '../../../marketplace/ledger/tab-records.ts'
import { CHAT_LINE } from '../../../marketplace/services/text/chat-line.ts'
import type { TabPayment } from '../../../marketplace/till/rails/tab/tab-call.ts'
import { carryOut, paymentInHeaders } from '../../cashier/cashier.ts'
import { TAB_SCHEME } from '../../cashier/options.ts'
import type { CallOutcome } from '../../cashier/paid-call.ts'
import type { COMPLETION } from '../../contract/chat.ts'
import { httpFault } from '../../contract/http-faults.ts'
import type { Static } from '../../contract/schema.ts'
import { addressKey, holderOf } from '../../edge/client-key.ts'
import type { ChatApi, MarketApi, NodeApi } from '../../node/node-api.ts'
import type { ApiRequest, FeedOut, PlainAnswer } from '../../server/answer.ts'
import { CompletionEvents, event } from '../completion.ts'
import { chatError } from '../errors.ts'
import { Line } from '../line.ts'
import { type ChatRequest, readChatRequest } from '../read-request.ts'
import { End } from '../visit.ts'
import { type TermsPlace, tabTerms } from './tab-terms.ts'
import { refusedOnTab, TabWork } from './tab-work.ts'

/** The service under whose name and price chats on tabs are sold. */
const SERVICE = 'node-llm-chat' as ServiceId
const JSON_TYPE = 'application/json; charset=utf-8'

type Answer = PlainAnswer | Fault
type Paid = Extract<CallOutcome, { is: 'paid' }>
type Failed = Extract<CallOutcome, { is: 'failed' }>
type Refused = Extract<CallOutcome, { is: 'refused' }>

interface Desk {
  readonly node: NodeApi
  readonly market: MarketApi
  readonly chat: ChatApi
  readonly request: ApiRequest
  readonly read: ChatRequest
}

interface Talk extends TermsPlace {
  readonly work: TabWork
  readonly settled: Promise<CallOutcome>
  readonly line: Line
  readonly events: CompletionEvents
}

/** Answers a chat that is paid from a tab, or tells what it costs there. */
export async function answerOnTab(node: NodeApi, chat: ChatApi, request: ApiRequest): Promise<Answer> {
  const { market } = node
  if (!market?.tabs) return fault('rpc/no-tabs')
  const read = readChatRequest(request.body, {
    tokensMax: chat.tokensMax,
    resumes: request.headers['x-resume'] === 'continue',
  })
  if (!read.ok) return read.fault
  const refused = refusedOnTab(read.value)
  if (refused !== null) return refused
  const desk = { node, market, chat, request, read: read.value }
  const payment = paymentOf(request, market)
  // A caller of a whole answer may come back for it, so that one is made to its end.
  const end = new End(read.value.streams ? request.signal : new AbortController().signal)
  const talk = begin(desk, payment, end)
  if (talk === null) return fault('rpc/no-tabs')
  if (!('settled' in talk)) return tabTerms(talk, payment.ok ? null : payment.fault)
  return read.value.streams ? streamed(talk) : whole(talk).finally(talk.work.leave)
}

function left({ work }: Talk, answer: Answer): Answer {
  work.leave()
  return answer
}

/** The voucher of a chat; null if it only asks for the price. */
function paymentOf({ headers }: ApiRequest, market: MarketApi): Result<TabPayment | null> {
  const offered = paymentInHeaders(headers, market)
  if (!offered.ok) return offered
  if (offered.value === null) return ok(null)
  const { rail } = offered.value
  if (rail !== 'tab') return fail(fault('pay/no-offer', { field: 'scheme', got: rail, expected: TAB_SCHEME }))
  const { payment } = offered.value
  return payment === null
    ? fail(fault('pay/unreadable', { where: 'a chat', reason: 'a tab is ended at the address of a service' }))
    : ok(payment)
}

/** Begins the work of a chat that is paid for. Null if this node does not sell chats. */
function begin(desk: Desk, payment: Result<TabPayment | null>, end: End): Talk | TermsPlace | null {
  const { node, market, chat, request, read } = desk
  const sold = market.shop.offer(SERVICE)
  if (sold === undefined) return null
  const { model } = read.call
  const created = Math.floor(node.clock.now() / 1_000)
  const head = { id: `chatcmpl-${randomUUID().replaceAll('-', '')}`, created, model }
  const events = new CompletionEvents(head, read.tellsUsage)
  const line = new Line(events)
  const sink = { ready: () => line.open(), take: line.take.bind(line) }
  const paid = payment.ok ? payment.value : null
  const payer = paid === null ? undefined : node.chain.database.get(TABS, paid.tabId)?.payer
  const parts = { chat, head, read, who: `tabs of ${payer}`, requestId: request.requestId, end }
  const work = new TabWork(parts, read.streams ? sink : null)
  const offer = work.offer(sold)
  const place = { node, market, offer, call: read.call, baseUrl: request.baseUrl }
  if (paid === null) return place
  const settled = carryOut(node, market, {
    ...{ offer, request: `${CHAT_LINE}${request.bodyText}`, idempotencyKey: null },
    payment: { rail: 'tab', payment: paid, refund: null },
    client: holderOf(addressKey(request.address)),
  })
  return { ...place, work, settled, line, events }
}

async function whole(talk: Talk): Promise<Answer> {
  const outcome = await talk.settled
  if (outcome.is !== 'paid') return notPaid(talk, outcome)
  const { result, settlement, replayed, sent } = outcome
  const headers = { 'cache-control': 'private, no-store', ...settledHeader(settlement), ...replayHeader(replayed) }
  return { status: 200, content: withPayment(result, outcome), contentType: JSON_TYPE, headers, sent }
}

/** Headers wait until an answer has begun, as in a free chat. The end waits until the charge is on disk. */
async function streamed(talk: Talk): Promise<Answer> {
  const { settled, line, work } = talk
  const early = await Promise.race([line.opened, settled]).catch((error: unknown) => {
    work.leave()
    throw error
  })
  if (early !== 'opened' && early.is !== 'paid') return left(talk, notPaid(talk, early))
  const write = async (out: FeedOut): Promise<boolean> => {
    try {
      await line.attach(out)
      const outcome = await settled
      await line.rest()
      await out.write(lastEvents(talk, outcome))
      return outcome.is === 'paid'
    } finally {
      work.leave()
    }
  }
  const replayed = early !== 'opened' && replayHeader(!work.isLive)
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', ...replayed }
  return { feed: { headers, write } }
}

/** The end of a stream. A repeated answer is one piece for each choice. */
function lastEvents({ work, events }: Talk, outcome: CallOutcome): string {
  if (outcome.is === 'failed') return event({ ...errorOf(work, outcome), x_payment: paymentIn(outcome) })
  if (outcome.is !== 'paid') return event(chatError((outcome as Refused).fault))
  const { id, created, model, choices, usage, x_platform } = JSON.parse(outcome.result) as Completion
  const told = work.isLive ? events : new CompletionEvents({ id, created, model }, events.tellsUsage)
  const pieces = work.isLive
    ? ''
    : choices.map(({ index, message }) => told.piece({ index, delta: deltaOf(message) })).join('')
  const ends: ChatOutcome = {
    choices: choices.map((choice): ChatChoice => ({ ...choice, finishReason: choice.finish_reason })),
    usage: {
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      totalTokens: usage.total_tokens,
      estimated: false,
    },
    report: x_platform as unknown as PlatformReport,
  }
  return pieces + told.end(ends, { x_payment: { ...paymentIn(outcome), usage } })
}

/** The receipt, and what the header `PAYMENT-RESPONSE` of a whole answer has. */
function paymentIn(outcome: Paid | Failed): object {
  const receipt = outcome.is === 'paid' ? outcome.receipt : 'receipt' in outcome.told ? outcome.told.receipt : null
  return { receipt, settlement: outcome.settlement }
}

/** The stored text goes in unchanged, before the payment: the receipt has the hash of these bytes. */
function withPayment(result: string, outcome: Paid): string {
  return `${result.slice(0, -1)},"x_payment":${JSON.stringify(paymentIn(outcome))}}`
}

function notPaid(talk: Talk, outcome: Exclude<CallOutcome, Paid>): Answer {
  if (outcome.is === 'closing') return fault('rpc/internal')
  if (outcome.is === 'refused') {
    const { fault: cause, corrective } = outcome
    return httpFault(cause.code).status === 402 ? tabTerms(talk, cause, corrective) : cause
  }
  const { settlement, replayed } = outcome
  const status = httpFault(talk.work.fault?.code ?? outcome.code).status
  const content = JSON.stringify({ ...errorOf(talk.work, outcome), x_payment: paymentIn(outcome) })
  // The same voucher would get the same answer.
  const headers = { 'cache-control': 'no-store', 'x-should-retry': 'false' }
  const settled = settlement === null ? {} : settledHeader(settlement)
  return { status, content, contentType: JSON_TYPE, headers: { ...headers, ...settled, ...replayHeader(replayed) } }
}

function errorOf({ fault: cause }: TabWork, { code, message }: Failed): object {
  if (cause !== null) return chatError(cause)
  const { error } = chatError(fault(code))
  return { error: { ...error, message } }
}

function settledHeader(settlement: object): Readonly<Record<string, string>> {
  return { 'payment-response': Buffer.from(JSON.stringify(settlement)).toString('base64') }
}

function replayHeader(replayed: boolean): Readonly<Record<string, string>> {
  return replayed ? { 'idempotent-replay': 'true' } : {}
}

type Completion = Static<typeof COMPLETION>

/** A message as one piece of a stream. */
function deltaOf({ tool_calls: calls, ...message }: Readonly<Record<string, unknown>>): ChatPieceDelta {
  return Array.isArray(calls) ? { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) } : message
}

type ChatPieceDelta = Readonly<Record<string, unknown>>
