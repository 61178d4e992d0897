import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ChatChoice, ChatOutcome, PlatformReport } from '../../../marketplace/chat/call.ts'
import { TABS } from '../../../marketplace/ledger/tab-records.ts'
import { CHAT_LINE } from '../../../marketplace/services/text/chat-line.ts'
import type { TabPayment } from '../../../marketplace/till/rails/tab/tab-call.ts'
import { carryOut, paymentInHeaders, replayHeader, settlementHeaders } from '../../cashier/cashier.ts'
import { TAB_SCHEME } from '../../cashier/options.ts'
import type { CallOutcome } from '../../cashier/paid-call.ts'
import type { COMPLETION } from '../../contract/chat.ts'
import { httpFault } from '../../contract/http-faults.ts'
import type { Static } from '../../contract/schema.ts'
import { addressKey, holderOf } from '../../edge/client-key.ts'
import type { MarketApi } from '../../node/node-api.ts'
import type { ApiRequest, PlainAnswer } from '../../server/answer.ts'
import { streamed } from '../chat-stream.ts'
import { CompletionEvents, event } from '../completion.ts'
import { chatError } from '../errors.ts'
import { Line } from '../line.ts'
import { type AskedChat, End } from '../visit.ts'
import { type TermsPlace, tabTerms } from './tab-terms.ts'
import { refusedOnTab, TabWork } from './tab-work.ts'

/** The service under whose name and price chats on tabs are sold. */
const SERVICE = 'node-llm-chat' as ServiceId
const JSON_TYPE = 'application/json; charset=utf-8'

type Answer = PlainAnswer | Fault
type Paid = Extract<CallOutcome, { is: 'paid' }>
type Failed = Extract<CallOutcome, { is: 'failed' }>
type Refused = Extract<CallOutcome, { is: 'refused' }>

interface Talk extends TermsPlace {
  readonly work: TabWork
  readonly events: CompletionEvents
}

/** Answers a chat that is paid from a tab, or tells what it costs there. */
export async function answerOnTab(asked: AskedChat): Promise<Answer> {
  const { node, request, read, head } = asked
  const { market } = node
  const sold = market?.shop.offer(SERVICE)
  if (!market?.tabs || sold === undefined) return fault('rpc/no-tabs')
  const refused = refusedOnTab(read)
  if (refused !== null) return refused
  const payment = paymentOf(request, market)
  const events = new CompletionEvents(head, read.tellsUsage)
  const line = read.streams ? new Line(events) : null
  const paid = payment.ok ? payment.value : null
  const who = (): string => `tabs of ${paid && node.chain.database.get(TABS, paid.tabId)?.payer}`
  const work = new TabWork({ ...asked, who, end: endOf(request, line) }, line?.sink ?? null)
  const offer = work.offer(sold)
  const talk = { node, market, offer, call: read.call, baseUrl: request.baseUrl, work, events }
  if (paid === null) return tabTerms(talk, payment.ok ? null : payment.fault)
  const ended = carryOut(node, market, {
    ...{ offer, request: `${CHAT_LINE}${request.bodyText}`, idempotencyKey: null },
    payment: { rail: 'tab', payment: paid, refund: null },
    client: holderOf(addressKey(request.address)),
  })
  const leave = (): void => work.leave()
  if (line === null) return whole(talk, await ended.finally(leave))
  return streamed({
    ...{ line, ended, leave },
    instead: (outcome) => (outcome.is === 'paid' ? null : notPaid(talk, outcome)),
    headers: (hasBegun) => (hasBegun ? {} : replayHeader({ replayed: !work.isLive })),
    last: (outcome) => ({ events: lastEvents(talk, outcome), isWhole: outcome.is === 'paid' }),
  })
}

/**
 * What ends the work early. The caller of a whole answer, and of a stream that has not begun, may come back for it: that one is made to its
 * end.
 */
function endOf({ signal }: ApiRequest, line: Line | null): End {
  const left = new AbortController()
  void line?.opened.then(() => {
    if (!signal.aborted) signal.addEventListener('abort', () => left.abort(), { once: true })
  })
  return new End(left.signal)
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

function whole(talk: Talk, outcome: CallOutcome): Answer {
  if (outcome.is !== 'paid') return notPaid(talk, outcome)
  const { result, settlement, sent } = outcome
  const headers = { 'cache-control': 'private, no-store', ...settlementHeaders(settlement), ...replayHeader(outcome) }
  return { status: 200, content: withPayment(result, outcome), contentType: JSON_TYPE, headers, sent }
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
  const status = httpFault(talk.work.fault?.code ?? outcome.code).status
  const content = JSON.stringify({ ...errorOf(talk.work, outcome), x_payment: paymentIn(outcome) })
  // The same voucher would get the same answer.
  const headers = { 'cache-control': 'no-store', 'x-should-retry': 'false' }
  const settled = settlementHeaders(outcome.settlement)
  return { status, content, contentType: JSON_TYPE, headers: { ...headers, ...settled, ...replayHeader(outcome) } }
}

function errorOf({ fault: cause }: TabWork, { code, message }: Failed): object {
  if (cause !== null) return chatError(cause)
  const { error } = chatError(fault(code))
  return { error: { ...error, message } }
}

type Completion = Static<typeof COMPLETION>

/** A message as one piece of a stream. */
function deltaOf({ tool_calls: calls, ...message }: Readonly<Record<string, unknown>>): ChatPieceDelta {
  return Array.isArray(calls) ? { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) } : message
}

type ChatPieceDelta = Readonly<Record<string, unknown>>
