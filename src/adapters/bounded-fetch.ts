import { setImmediate } from 'node:timers/promises'
import { retryAfterMs } from './retry-after.ts'

/** What came back over HTTP: its status, and its text cut at a bound. */
export interface Fetched {
  readonly status: number
  readonly text: string
  /** The pause that it asks for; 0 where it names none. */
  readonly retryAfterMs: number
}

/** A request that got no answer; `arrived` is false where it certainly never reached the other side. */
export interface Unanswered {
  readonly arrived: boolean
  readonly detail: string
}

/** Codes of connections that were never made. */
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

/** Codes of connections that broke off. */
const BROKEN_OFF: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** How a request is sent. */
export interface BoundedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly deadlineMs: number
  /** Most bytes of the answer; a longer one is no answer. */
  readonly bytesMax: number
  /** Whether it may reach the other side twice, as a question that changes nothing there may. */
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

/** Parts that a time limit is counted in. */
const PARTS = 20

/**
 * A signal for a time limit in which the other side can be heard: while this process does not run (it computes, or others have the
 * processor) at most one part of it passes, so that an answer that is there already is read before it counts as late.
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
 * `fetch`, once more where the connection broke off before an answer: it may have been an idle one, kept from before, that the other
 * side had closed, as happens whenever this process has been busy for some seconds.
 */
async function askTwice(url: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal.aborted || !BROKEN_OFF.has(codeOf(error))) throw error
    // By then it is known of every idle connection whether it is closed.
    await setImmediate()
    return fetch(url, init)
  }
}

function codeOf(error: unknown): string {
  return (error as { readonly cause?: { readonly code?: string } }).cause?.code ?? ''
}

/** The bytes of an answer while they come. */
interface Body {
  readonly body: AsyncIterable<Uint8Array> | null
}

/** The text of an answer, null where it is too long. */
export async function textOf(response: Body, bytesMax: number, onBytes?: () => void): Promise<string | null> {
  return (await bytesOf(response, bytesMax, onBytes))?.toString('utf8') ?? null
}

/** The bytes of an answer, null where there are too many; `onBytes` hears of each part. Rejects where the connection breaks off. */
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

/** The object that a text is the JSON of, null where it is none. */
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
