import { setImmediate } from 'node:timers/promises'
import { retryAfterMs } from './retry-after.ts'

/** An HTTP answer: its status, and its text cut at a bound. */
export interface Fetched {
  readonly status: number
  readonly text: string
  /** The pause in milliseconds that the server asks for (Retry-After); 0 if it names none. */
  readonly retryAfterMs: number
}

/** A request that got no usable answer. `arrived` is false if the request certainly never reached the server. */
export interface Unanswered {
  readonly arrived: boolean
  readonly detail: string
}

/** Error codes of connections that were never established. */
const NEVER_MADE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** Error codes of connections that broke off. */
const BROKEN_OFF: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** A request and its limits. */
export interface BoundedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly deadlineMs: number
  /** Maximum bytes of the answer; a longer one counts as unanswered. */
  readonly bytesMax: number
  /** Whether the request may be sent twice, because it changes nothing at the server. */
  readonly isQuestion: boolean
}

/** Sends a request and reads its answer, both within one deadline. Never throws. */
export async function boundedFetch(url: string, request: BoundedRequest): Promise<Fetched | Unanswered> {
  const { method, headers = {}, body, deadlineMs, bytesMax, isQuestion } = request
  const { signal, end } = patience(deadlineMs)
  try {
    const said = { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const init = { method, headers: { ...said, ...headers }, signal, redirect: 'error' as const }
    const sent = body === undefined ? init : { ...init, body }
    const response = await (isQuestion ? askTwice(url, sent) : fetch(url, sent))
    const text = await textOf(response, bytesMax)
    return text === null
      ? { arrived: true, detail: `its answer is longer than ${bytesMax} bytes` }
      : { status: response.status, text, retryAfterMs: retryAfterMs(response.headers.get('retry-after')) }
  } catch (error) {
    if (signal.aborted) return { arrived: true, detail: `no answer within ${deadlineMs} ms` }
    const code = codeOf(error)
    return { arrived: !NEVER_MADE.has(code), detail: code === '' ? 'the connection failed' : code }
  } finally {
    end()
  }
}

const PARTS = 20

/**
 * A time limit that is counted in slices. While this process is blocked, at most one slice passes, so an answer that
 * already arrived is usually read before the limit passes.
 */
function patience(ms: number): { readonly signal: AbortSignal; readonly end: () => void } {
  const late = new AbortController()
  let parts = 0
  let timer: NodeJS.Timeout
  const wait = (): void => {
    timer = setTimeout(pass, ms / PARTS).unref()
  }
  const pass = (): void => {
    parts += 1
    if (parts < PARTS) wait()
    else late.abort()
  }
  wait()
  return { signal: late.signal, end: () => clearTimeout(timer) }
}

/**
 * The usual cause of a broken connection is an idle kept-alive one that the server closed while this process was busy
 * for some seconds.
 */
async function askTwice(url: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal.aborted || !BROKEN_OFF.has(codeOf(error))) throw error
    // Lets the event loop see which idle connections are closed before the retry picks one.
    await setImmediate()
    return fetch(url, init)
  }
}

function codeOf(error: unknown): string {
  return (error as { readonly cause?: { readonly code?: string } }).cause?.code ?? ''
}

interface Body {
  readonly body: AsyncIterable<Uint8Array> | null
}

/** The text of an answer, or null if it is too long. */
export async function textOf(response: Body, bytesMax: number, onBytes?: () => void): Promise<string | null> {
  return (await bytesOf(response, bytesMax, onBytes))?.toString('utf8') ?? null
}

/** The bytes of an answer, or null if it is too long. Rejects if the connection breaks off. */
export async function bytesOf(response: Body, bytesMax: number, onBytes?: () => void): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    onBytes?.()
    bytes += chunk.length
    if (bytes > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Parses a JSON object; null if the text is not JSON or not an object. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null
  } catch {
    return null
  }
}
