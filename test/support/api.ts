/** An answer: status, headers, text and the JSON that it parses to. Text that is no JSON object or array gives `{}`. */
export interface Reply<Body = JsonBody> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Body
}

/** Any JSON object. */
export type JsonBody = Readonly<Record<string, unknown>>

/** An offer of a 402 answer. */
export interface OptionView {
  readonly scheme: string
  readonly payTo: string
  readonly maxAmountRequired: string
  readonly amount: number
  readonly extra: {
    readonly agentId: string
    readonly term: number
    readonly validUntil: number
    readonly confirmations: number
    readonly available: boolean
    readonly networkName: string
  }
}

/** The refund of a failed call. */
export interface RefundView {
  readonly status: string
  readonly amount: number
  readonly asset: string
  readonly to: string
  readonly txId: string | null
  readonly reason: string
  readonly statusUrl: string
}

/** The members that tests read in answers of a paid path. Which of them an answer has depends on its outcome. */
export interface CallView {
  readonly x402?: boolean
  readonly error?: string
  readonly code?: string
  readonly requestId?: string
  readonly details?: JsonBody
  readonly available?: boolean
  readonly unavailableReason?: string
  readonly requestValid?: boolean
  readonly requestError?: { readonly reason: string; readonly example: string; readonly requestFormat: string }
  readonly accepts?: readonly OptionView[]
  readonly offers?: readonly OptionView[]
  readonly paid?: boolean
  readonly result?: JsonBody
  readonly receipt?: JsonBody
  readonly refund?: RefundView
}

/** State of a paid call as `/api/x402/requests/{txId}` shows it. */
export interface RequestView {
  readonly txId: string
  readonly serviceId: string
  readonly status: string
  readonly refund: RefundView | null
  readonly receiptTxId: string | null
}

export async function ask<Body = JsonBody>(url: string, path: string, init: RequestInit = {}): Promise<Reply<Body>> {
  const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(90_000), ...init })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(text) as Body }
}

/** Posts JSON, or text that need not be JSON. */
export function post<Body = JsonBody>(
  url: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply<Body>> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
  return ask(url, path, text === undefined ? init : { ...init, body: text })
}

/** Status and code of an answer as one text. An answer without a code shows `paid` if it was paid for, otherwise `-`. */
export function verdict({ status, body }: Reply<CallView>): string {
  return `${status} ${body.code ?? (body.paid === true ? 'paid' : '-')}`
}

function parse(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text)
    return json !== null && typeof json === 'object' ? json : {}
  } catch {
    return {}
  }
}

/** Repeats a request until the answer is not `head_moving`: with fast blocks the head often moves during a request. */
export async function atRest(request: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await request()
    if (reply.body.code !== 'head_moving') return reply
  }
}

/** Reads two things of one moment: reads `first` before and after `second`, until these two readings of `first` are equal. */
export async function atOneMoment(
  first: () => Promise<Reply>,
  second: () => Promise<Reply>,
): Promise<readonly [Reply, Reply]> {
  for (let before = await first(); ; ) {
    const [other, after] = [await second(), await first()]
    if (before.text === after.text) return [before, other]
    before = after
  }
}
