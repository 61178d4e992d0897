import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'

/** Everything that an upstream can do. */
export const PROFILES = [
  'ok',
  'slow',
  'hang',
  'drop',
  'cut',
  '429',
  '401',
  '500',
  'wrong-json',
  'wrong-type',
  'html',
  'huge',
] as const

/**
 * What an upstream does. `ok`: the right answer. `slow`: the same after `slowMs`. `hang`: no answer. `drop`: the connection ends without an
 * answer. `cut`: it ends after headers and half of the body. `429`: with Retry-After. `401`, `500`: that status. `wrong-json`: half of the
 * body as if it were all. `wrong-type`: well-formed, of another shape. `html`: a page with status 200. `huge`: a body without end.
 */
export type Profile = (typeof PROFILES)[number]

/** A question as it arrived. */
export interface UpstreamRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An answer. A body that is neither text nor bytes is sent as JSON. The default status is 200. */
export interface UpstreamAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | object
}

/** Makes the right answer. */
export type UpstreamHandler = (request: UpstreamRequest) => UpstreamAnswer | Promise<UpstreamAnswer>

/** What a test may change in an upstream. */
export interface UpstreamParts {
  readonly handler: UpstreamHandler
  /** Answer of the profile `wrong-type`. By default every leaf of the right JSON is replaced; other texts become `<other/>`. */
  readonly wrongType?: UpstreamHandler
  readonly slowMs?: number
  readonly retryAfter?: string
}

/** An endless answer ends after so many bytes, so that a reader without a bound fails instead of hanging. */
const ENDLESS_BYTES = 256 * 1_048_576
const REQUESTS_MAX = 10_000

/**
 * A fake of another operator's HTTP server, on 127.0.0.1:
 *
 *     const upstream = await Upstream.open({ handler: ({ path }) => ({ body: { path } }) })
 *     upstream.profile = 'cut'                                       // from now on
 *     upstream.profile = ({ path }) => (path === '/a' ? '500' : 'ok')   // or by request
 *     upstream.requests                                              // all that was asked
 *     await upstream.close()
 *
 * It can be closed and opened again on the same port (`reopen`).
 */
export class Upstream {
  profile: Profile | ((request: UpstreamRequest) => Profile) = 'ok'
  /** Requests in order. */
  readonly requests: UpstreamRequest[] = []
  /** How many requests wait for their answer. */
  open = 0
  readonly #parts: UpstreamParts
  #server: Server | null = null
  #port = 0

  private constructor(parts: UpstreamParts) {
    this.#parts = parts
  }

  static async open(parts: UpstreamParts | UpstreamHandler): Promise<Upstream> {
    const upstream = new Upstream(typeof parts === 'function' ? { handler: parts } : parts)
    await upstream.reopen()
    return upstream
  }

  /** Base URL, without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** How many requests came, in all or for a path. */
  count(path?: string): number {
    return this.requests.filter((one) => path === undefined || one.path === path).length
  }

  /** Listens again on its port. */
  async reopen(): Promise<void> {
    const server = createServer((request, response) => {
      this.open += 1
      response.once('close', () => {
        this.open -= 1
      })
      this.#answer(request, response).catch(() => request.socket.destroy())
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Closes it and all its connections. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server === null) return
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await requestOf(incoming)
    if (this.requests.length >= REQUESTS_MAX) throw new Error('a test asks without end')
    this.requests.push(request)
    const profile = typeof this.profile === 'function' ? this.profile(request) : this.profile
    if (profile === 'hang') return
    if (profile === 'drop') return void incoming.socket.destroy()
    const { handler, wrongType, slowMs = 300, retryAfter = '7' } = this.#parts
    if (profile === 'slow') await setTimeout(slowMs, undefined, { ref: false })
    if (profile === '429')
      return reply(response, { status: 429, headers: { 'retry-after': retryAfter }, body: REFUSAL })
    if (profile === '401') return reply(response, { status: 401, body: REFUSAL })
    if (profile === '500') return reply(response, { status: 500, body: REFUSAL })
    if (profile === 'html') return reply(response, { headers: { 'content-type': 'text/html' }, body: PAGE })
    if (profile === 'huge') return endless(response)
    if (profile === 'wrong-type')
      return reply(response, wrong(await (wrongType ?? handler)(request), wrongType === undefined))
    const answer = await handler(request)
    if (profile === 'cut') return cut(response, answer)
    reply(response, profile === 'wrong-json' ? { ...answer, body: half(bytesOf(answer)) } : answer)
  }
}

const REFUSAL = { error: 'not now' }
const PAGE = '<!doctype html><html><body><h1>Sorry</h1><p>Please wait: your browser is being checked.</p></body></html>'

async function requestOf(incoming: IncomingMessage): Promise<UpstreamRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://upstream')
  const body = Buffer.concat(chunks).toString('utf8')
  return { method: incoming.method ?? '', path: pathname, query: searchParams, headers: incoming.headers, body }
}

function reply(response: ServerResponse, answer: UpstreamAnswer): void {
  response.writeHead(answer.status ?? 200, headersOf(answer)).end(bytesOf(answer))
}

/** Destroys the socket when half of the promised bytes are sent. */
function cut(response: ServerResponse, answer: UpstreamAnswer): void {
  const bytes = bytesOf(answer)
  response.writeHead(answer.status ?? 200, { ...headersOf(answer), 'content-length': String(bytes.length) })
  response.write(half(bytes), () => response.socket?.destroy())
}

async function endless(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = Buffer.alloc(65_536, ' ')
  const chunks = Array.from({ length: ENDLESS_BYTES / chunk.length }, () => chunk)
  await pipeline(Readable.from(chunks), response)
}

function headersOf({ headers, body }: UpstreamAnswer): Readonly<Record<string, string>> {
  const isJson = typeof body !== 'string' && !(body instanceof Uint8Array)
  return { ...(isJson && { 'content-type': 'application/json' }), ...headers }
}

function bytesOf({ body }: UpstreamAnswer): Buffer {
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body as Uint8Array)
  return Buffer.from(JSON.stringify(body))
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.ceil(bytes.length / 2))
}

function wrong(answer: UpstreamAnswer, isRight: boolean): UpstreamAnswer {
  if (!isRight) return answer
  const text = bytesOf(answer).toString('utf8')
  try {
    return { ...answer, body: misshapen(JSON.parse(text)) as object }
  } catch {
    return { ...answer, body: '<other/>' }
  }
}

/** The same JSON with a wrong type at every leaf, and objects in place of lists. */
function misshapen(value: unknown): unknown {
  if (Array.isArray(value)) return { first: misshapen(value[0]) }
  if (value === null || typeof value !== 'object') return { unexpected: [typeof value] }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, misshapen(inner)]))
}
