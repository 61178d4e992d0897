/** What came back over HTTP: its status, and its text cut at a bound. */
export interface Fetched {
  readonly status: number
  readonly text: string
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

/** How a request is sent. */
export interface BoundedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly deadlineMs: number
  /** Most bytes of the answer; a longer one is no answer. */
  readonly bytesMax: number
}

/** Sends a request and reads its answer, both within one deadline. Never throws. */
export async function boundedFetch(url: string, request: BoundedRequest): Promise<Fetched | Unanswered> {
  const { method, headers = {}, body, deadlineMs, bytesMax } = request
  const signal = AbortSignal.timeout(deadlineMs)
  try {
    const said = { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const init = { method, headers: { ...said, ...headers }, signal, redirect: 'error' as const }
    const response = await fetch(url, body === undefined ? init : { ...init, body })
    const text = await textOf(response, bytesMax)
    return text === null
      ? { arrived: true, detail: `its answer is longer than ${bytesMax} bytes` }
      : { status: response.status, text }
  } catch (error) {
    if (signal.aborted) return { arrived: true, detail: `no answer within ${deadlineMs} ms` }
    const { cause } = error as { readonly cause?: { readonly code?: string; readonly message?: string } }
    const code = cause?.code ?? ''
    return { arrived: !NEVER_MADE.has(code), detail: code === '' ? 'the connection failed' : code }
  }
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
