import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import { fieldsOf, type NodeAnswer, textOf } from '../http.ts'
import { paymentPayload } from './carriers.ts'
import { awaitDepth, type PaidFetchParts } from './paid-fetch.ts'
import { nativeOffer, readOffer, withWord } from './quotes.ts'
import { errorOfAnswer, isPassing } from './refusals.ts'
import { interrupted } from './settling.ts'
import type { Payment, Quote, ToolCaller } from './shapes.ts'
import type { TabCarrier } from './tabs/tab-seller.ts'
import { isOver, pause } from './waiting.ts'

type Fields = Readonly<Record<string, unknown>>

const PAYMENT_KEY = 'x402/payment'
const RESPONSE_KEY = 'x402/payment-response'
const RETRY_MS = { least: 500, most: 10_000 }

/**
 * `callTool` of an MCP client that pays. If a tool answers with x402 terms that have a native offer, the offer is paid within
 * the ceilings and the call is repeated with the payment in `_meta`. Any other answer is returned unchanged. Errors: those of
 * the guards, `RefundedError`, and `InterruptedPaymentError` if no answer came after the payment.
 */
export function payingTools<C extends ToolCaller>(
  mcp: C,
  parts: PaidFetchParts,
  { url = null }: { readonly url?: string | null } = {},
): C['callTool'] {
  const call = (params: Fields, more: readonly unknown[]): Promise<unknown> =>
    (mcp.callTool as unknown as (...call: readonly unknown[]) => Promise<unknown>).call(mcp, params, ...more)
  const paying = async (params: Fields, ...more: readonly unknown[]): Promise<unknown> => {
    const first = await call(params, more)
    const terms = termsOf(first)
    const quote = terms === undefined ? undefined : quoteOf(terms, params, parts)
    if (terms === undefined || quote === undefined) return first
    const signal = more.map((each) => fieldsOf(each).signal).find((each) => each instanceof AbortSignal)
    const paidBy = (payment: Fields) => ({ ...params, _meta: { ...fieldsOf(params._meta), [PAYMENT_KEY]: payment } })
    const onTab = await paidFromTab(parts, { quote, url, signal }, (payment) => call(paidBy(payment), more))
    if (onTab !== undefined) return onTab
    const { record } = await parts.payer.pay(quote, signal)
    // A Farthing node waits for the block itself.
    if (!quote.isCommitted) await awaitDepth(parts, record, quote, signal)
    const payload = paymentPayload(record, quote, { version: terms.x402Version === 1 ? 1 : 2, terms })
    return settle(parts, { payment: record, quote, signal }, () => call(paidBy(payload), more))
  }
  return paying as unknown as C['callTool']
}

/** The result of a call that a tab paid. Undefined: pay it by itself. */
async function paidFromTab(
  { tabs }: PaidFetchParts,
  {
    quote,
    url,
    signal,
  }: { readonly quote: Quote; readonly url: string | null; readonly signal: AbortSignal | undefined },
  call: (payment: Fields) => Promise<unknown>,
): Promise<unknown> {
  let last: unknown
  const carry: TabCarrier['carry'] = async (payment) => {
    try {
      last = await call(payment)
    } catch {
      return fail(fault('cli/node-unreachable', { url: quote.url, advice: '' }))
    }
    const said = fieldsOf(last)
    if (said.isError === true) return ok(answerOf(said))
    return ok({ status: 200, body: contentOf(said), settled: fieldsOf(fieldsOf(said._meta)[RESPONSE_KEY]) })
  }
  return (await tabs.pay(quote, { url, carry, signal })) ? last : undefined
}

/** The payment is always the same, so nothing is paid twice. */
async function settle(
  parts: PaidFetchParts,
  {
    payment,
    quote,
    signal,
  }: { readonly payment: Payment; readonly quote: Quote; readonly signal: AbortSignal | undefined },
  call: () => Promise<unknown>,
): Promise<unknown> {
  const patience = parts.patience(signal)
  for (let waitMs = RETRY_MS.least; ; waitMs = Math.min(2 * waitMs, RETRY_MS.most)) {
    const result = await call().catch(() => undefined)
    const said = fieldsOf(result)
    if (result !== undefined && said.isError !== true) {
      await parts.note(payment, 'settled')
      parts.tabs.counted(quote.agentId, null)
      return result
    }
    const answer = result === undefined ? undefined : answerOf(said)
    if (answer !== undefined && !isPassing(answer)) {
      if (answer.body.refund !== undefined) await parts.note(payment, 'refunded')
      throw errorOfAnswer(answer, payment)
    }
    if (isOver(patience)) throw interrupted(payment)
    if (answer?.status === 402) await awaitDepth(parts, payment, quote, signal)
    await pause(Math.min(waitMs, Math.max(0, patience.untilMs - Date.now())), patience.signal)
  }
}

/** HTTP statuses of the refusals after which another try may help. */
const PASSING: Readonly<Record<string, number>> = {
  payment_unconfirmed: 402,
  payment_not_found: 402,
  rate_limited: 429,
  overloaded: 503,
  node_syncing: 503,
  busy: 503,
  internal_error: 500,
}

/**
 * A refusal of a tool as an HTTP answer. Codes that are not in {@link PASSING} count as 402 with x402 terms. Without terms they count as
 * 503 with `retry: true`, else as 422.
 */
function answerOf(result: Fields): NodeAnswer {
  const body = contentOf(result)
  const code = textOf(body.code, '')
  const isLater = body.retry === true && body.x402Version === undefined
  return { status: PASSING[code] ?? (isLater ? 503 : body.x402Version === undefined ? 422 : 402), body }
}

/** The fields of a result: its structured content, or the JSON text of its first content. */
function contentOf({ structuredContent, content }: Fields): Fields {
  if (structuredContent !== undefined) return fieldsOf(structuredContent)
  const [first] = Array.isArray(content) ? content : []
  try {
    return fieldsOf(JSON.parse(textOf(fieldsOf(first).text, '')))
  } catch {
    return {}
  }
}

function termsOf(result: unknown): Fields | undefined {
  const said = fieldsOf(result)
  if (said.isError !== true) return undefined
  const content = contentOf(said)
  return content.x402Version !== undefined && nativeOffer(content) !== undefined ? content : undefined
}

/** The native offer as a quote. A tool of a Farthing node has the name of its service and the argument `request`. */
function quoteOf(terms: Fields, params: Fields, { payer }: PaidFetchParts): Quote | undefined {
  const offer = nativeOffer(terms) as Fields
  const { request = '' } = fieldsOf(params.arguments)
  const isOurs = fieldsOf(offer.extra).serviceId === params.name && typeof request === 'string'
  const url = textOf(fieldsOf(terms.resource).url, `mcp://tool/${String(params.name)}`)
  const basis = { request: isOurs ? request : null, url, nowMs: Date.now(), facts: payer.facts }
  const quote = readOffer(offer, basis)
  return quote === undefined ? undefined : withWord(quote, terms)
}
