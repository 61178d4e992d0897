import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { isDeeperThan } from '../../consensus/primitives/nesting.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** An answer of a node: status and parsed JSON. */
export interface NodeAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** From the header Retry-After. Absent if that names no whole seconds. */
  readonly retryAfterMs?: number
  /** The JSON in the header PAYMENT-RESPONSE. Absent if there is none. */
  readonly settled?: Readonly<Record<string, unknown>>
}

/** `fetch` is by default the global one. The signal ends every request. */
export interface Transport {
  readonly fetch?: typeof globalThis.fetch
  readonly signal?: AbortSignal
}

/** Maximum wait for an answer. A paid call waits for its block within this time. */
const TIMEOUT_MS = 90_000

/** A hostile node could send without end. Farthing nodes send a few MiB. */
const ANSWER_BYTES_MAX = 33_554_432
const REFUSAL_BYTES_MAX = 1_048_576
/** Maximum nesting of an answer. Printing is recursive, and deeper JSON could overflow the stack. */
const LEVELS_MAX = 128
const FIRST_BYTES = 16_384

/** Whether no answer came. The request may have arrived all the same. */
export function isUnanswered({ code }: Fault): boolean {
  return code === 'cli/node-unreachable' || code === 'cli/ended'
}

/** Every HTTP answer is a value. Faults: `cli/node-unreachable`; `cli/ended` if the transport's signal ended the request. */
export async function askNode(
  baseUrl: string,
  path: string,
  init: RequestInit = {},
  { fetch = globalThis.fetch, signal }: Transport = {},
): Promise<Result<NodeAnswer>> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const ended = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
  try {
    const response = await fetch(`${baseUrl}${path}`, { signal: ended, ...init })
    return ok(await readAnswer(response))
  } catch {
    // If the caller ended the request, the node is not to blame.
    if (signal?.aborted === true) return fail(fault('cli/ended'))
    return fail(fault('cli/node-unreachable', { url: baseUrl, advice: '' }))
  }
}

/** A too long or too deep answer is dropped, and counts as an error (502) of the node. */
export async function readAnswer(response: Response): Promise<NodeAnswer> {
  const text = await readText(response.body, response.ok ? ANSWER_BYTES_MAX : REFUSAL_BYTES_MAX)
  if (text === undefined) return { status: 502, body: { error: 'its answer has no end', code: 'too_long' } }
  const retryAfter = response.headers.get('retry-after') ?? ''
  const told = /^[0-9]{1,6}$/.test(retryAfter) ? { retryAfterMs: Number(retryAfter) * 1_000 } : {}
  const body = parse(text)
  const settlement = response.headers.get('payment-response')
  const settled = settlement === null ? {} : { settled: jsonOfBase64(settlement) }
  if (isDeeperThan(LEVELS_MAX, body))
    return { status: 502, body: { error: 'its answer has too many levels', code: 'too_deep' } }
  return { status: response.status, body, ...told, ...settled }
}

/** No fields if the answer is too long. A text that is not JSON becomes the field `error`. */
export async function readRefusal(response: Response): Promise<NodeAnswer['body']> {
  const text = await readText(response.body, REFUSAL_BYTES_MAX)
  return text === undefined ? {} : fieldsOf(parse(text))
}

/** Undefined, and the connection is ended, if the body has more than `bytesMax` bytes. */
async function readText(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<string | undefined> {
  if (body === null) return ''
  // Some browsers cannot iterate over a stream.
  const reader = body.getReader()
  // One growing buffer: a node can send single bytes, and keeping each piece would take a hundred times the memory.
  let [bytes, length] = [new Uint8Array(FIRST_BYTES), 0]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return new TextDecoder().decode(bytes.subarray(0, length))
    if (length + value.length > bytesMax) {
      // Do not await: cancelling one half of a cloned response waits for the other half.
      void reader.cancel().catch(() => {})
      return undefined
    }
    if (length + value.length > bytes.length) bytes = grown(bytes, length + value.length)
    bytes.set(value, length)
    length += value.length
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(length, 2 * bytes.length))
  larger.set(bytes)
  return larger
}

/** Sends JSON to a node. */
export function postJson(
  baseUrl: string,
  path: string,
  body: unknown,
  transport?: Transport,
): Promise<Result<NodeAnswer>> {
  const headers = { 'content-type': 'application/json' }
  return askNode(baseUrl, path, { method: 'POST', headers, body: JSON.stringify(body) }, transport)
}

/** Sends bytes to a node. */
export function postBytes(
  baseUrl: string,
  path: string,
  bytes: Uint8Array,
  transport?: Transport,
): Promise<Result<NodeAnswer>> {
  const headers = { 'content-type': 'application/octet-stream' }
  return askNode(baseUrl, path, { method: 'POST', headers, body: bytes as Uint8Array<ArrayBuffer> }, transport)
}

/** The body of a successful answer, or else {@link refusal}. */
export function expectOk(answer: Result<NodeAnswer>): Result<NodeAnswer['body']> {
  if (!answer.ok) return answer
  return answer.value.status < 300 ? ok(answer.value.body) : fail(refusal(answer.value))
}

/** The node's words about what it refused, with the names that it suggests. */
export function refusal({ status, body }: NodeAnswer): Fault {
  const { suggestions } = fieldsOf(body.details)
  const names = Array.isArray(suggestions) ? suggestions.filter((name) => typeof name === 'string') : []
  const meant = names.length > 0 ? `; did you mean ${names.join(' or ')}?` : ''
  const message = `${textOf(body.error, String(status))}${meant} (${textOf(body.code, 'no code')})`
  return fault('cli/refused', { message })
}

/** A text of an answer, or `otherwise` if the value is no text. */
export function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

/** Fields of an object in an answer. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' ? (value as Readonly<Record<string, unknown>>) : {}
}

/** No fields for anything but the base64 of a JSON object. */
export function jsonOfBase64(text: string): NodeAnswer['body'] {
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
    return fieldsOf(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return {}
  }
}

function parse(text: string): NodeAnswer['body'] {
  try {
    const json: unknown = JSON.parse(text)
    return json !== null && typeof json === 'object' ? (json as NodeAnswer['body']) : { value: json }
  } catch {
    return { error: text.slice(0, 200) }
  }
}
