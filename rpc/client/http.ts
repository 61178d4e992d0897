import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { isDeeperThan } from '../../consensus/primitives/nesting.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** An answer of a node: status and parsed JSON. */
export interface NodeAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** How long it asks to be left alone, milliseconds; absent where it does not say. */
  readonly retryAfterMs?: number
}

/** How a client reaches nodes: another `fetch` than the global one, and what ends every request at once. */
export interface Transport {
  readonly fetch?: typeof globalThis.fetch
  readonly signal?: AbortSignal
}

/** Longest wait for an answer; paid calls wait for their block within it. */
const TIMEOUT_MS = 90_000

/** A stranger's node could go on for ever; ours say at most a few MiB. */
const ANSWER_BYTES_MAX = 33_554_432
/** Quotes, refusals and errors are short. */
const REFUSAL_BYTES_MAX = 1_048_576
/** Levels of an answer: what shows it to a person calls itself for each, and would run out of stack. */
const LEVELS_MAX = 128
/** Room that a body gets at first. */
const FIRST_BYTES = 16_384

/** Whether no answer came: what was sent may have arrived all the same. */
export function isUnanswered({ code }: Fault): boolean {
  return code === 'cli/node-unreachable' || code === 'cli/ended'
}

/** Asks a node. Any HTTP answer is a value. Faults: `cli/node-unreachable`, and `cli/ended` where the signal of the transport ended it. */
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
    // What its own caller broke off says nothing about the node.
    if (signal?.aborted === true) return fail(fault('cli/ended'))
    return fail(fault('cli/node-unreachable', { url: baseUrl, advice: '' }))
  }
}

/** Reads an HTTP answer to its end. One that is longer or nested deeper than any that a node gives is an error of the node, and is not kept. */
export async function readAnswer(response: Response): Promise<NodeAnswer> {
  const text = await readText(response.body, response.ok ? ANSWER_BYTES_MAX : REFUSAL_BYTES_MAX)
  if (text === undefined) return { status: 502, body: { error: 'its answer has no end', code: 'too_long' } }
  const retryAfter = response.headers.get('retry-after') ?? ''
  const told = /^[0-9]{1,6}$/.test(retryAfter) ? { retryAfterMs: Number(retryAfter) * 1_000 } : {}
  const body = parse(text)
  if (isDeeperThan(LEVELS_MAX, body))
    return { status: 502, body: { error: 'its answer has too many levels', code: 'too_deep' } }
  return { status: response.status, body, ...told }
}

/** Reads an answer that refuses or asks for a payment, as JSON; no fields where it is longer than any of those, or none. */
export async function readRefusal(response: Response): Promise<NodeAnswer['body']> {
  const text = await readText(response.body, REFUSAL_BYTES_MAX)
  return text === undefined ? {} : fieldsOf(parse(text))
}

/** The text of a body; undefined as soon as it is longer than so many bytes, and its connection is ended. */
async function readText(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<string | undefined> {
  if (body === null) return ''
  // Not every browser iterates over a stream.
  const reader = body.getReader()
  // One buffer: a body can come byte by byte, and each piece for itself would cost a hundred times what is in it.
  let [bytes, length] = [new Uint8Array(FIRST_BYTES), 0]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return new TextDecoder().decode(bytes.subarray(0, length))
    if (length + value.length > bytesMax) {
      // Not waited for: one half of a cloned answer is only given up together with the other.
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

/** The body of a successful answer, or the node's own words as a fault. */
export function expectOk(answer: Result<NodeAnswer>): Result<NodeAnswer['body']> {
  if (!answer.ok) return answer
  return answer.value.status < 300 ? ok(answer.value.body) : fail(refusal(answer.value))
}

/** The node's own words about what it refused, with the names that it suggests. */
export function refusal({ status, body }: NodeAnswer): Fault {
  const { suggestions } = fieldsOf(body.details)
  const names = Array.isArray(suggestions) ? suggestions.filter((name) => typeof name === 'string') : []
  const meant = names.length > 0 ? `; did you mean ${names.join(' or ')}?` : ''
  const message = `${textOf(body.error, String(status))}${meant} (${textOf(body.code, 'no code')})`
  return fault('cli/refused', { message })
}

/** A text of an answer; anything else that stands in its place is not shown. */
export function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

/** Fields of an object in an answer; none where it is no object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' ? (value as Readonly<Record<string, unknown>>) : {}
}

function parse(text: string): NodeAnswer['body'] {
  try {
    const json: unknown = JSON.parse(text)
    return json !== null && typeof json === 'object' ? (json as NodeAnswer['body']) : { value: json }
  } catch {
    return { error: text.slice(0, 200) }
  }
}
