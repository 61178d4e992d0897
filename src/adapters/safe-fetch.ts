import type { Socket } from 'node:net'
import { type buildConnector, Client } from 'undici'
import type { Clock } from '../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from '../../marketplace/ports/readiness.ts'
import { URL_CHARS_MAX, type WebPage, type WebReader, type WebRequest } from '../../marketplace/ports/web.ts'
import { systemClock } from '../daemon/runtime.ts'
import { ACCEPTED_CODINGS, canDecode, codingsOf, readBody, UnusableBody } from './decoded-body.ts'
import { hostOf, readPublicUrl, type UrlRules } from './public-url.ts'
import { Robots } from './robots.ts'
import { connectToStranger, type SocketDependencies } from './stranger-socket.ts'

/** What the fetcher needs. */
export interface SafeFetcherDependencies extends SocketDependencies {
  readonly urls: UrlRules
  readonly names: SocketDependencies['names'] & { readonly readiness: () => Readiness }
  /** `product` is the token for robots.txt, with which `userAgent` begins. */
  readonly product: string
  readonly userAgent: string
  readonly robots: boolean
  readonly clock?: Clock
  readonly totalMs?: number
}

/** Redirects and waiting included. */
export const TOTAL_MS = 9_000
/** Maximum redirects that are followed. */
export const REDIRECTS_MAX = 5
const STATUS_MAX = 599
/** Maximum bytes of an answer's headers. */
export const HEADER_BYTES_MAX = 16_384
/** A connection may carry so many times the bytes of its page, and `RAW_BYTES_MORE`: real framing is far shorter. */
const RAW_FACTOR = 4
const RAW_BYTES_MORE = 524_288
const RAW_CHECK_MS = 50
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

type Hop = { readonly to: string; readonly status: number } | { readonly page: WebPage }

/**
 * The only way to fetch pages of strangers. Every address of every hop passes the guard before the connection. Length,
 * speed and coding of an answer are never trusted.
 */
export class SafeFetcher implements WebReader {
  readonly #parts: SafeFetcherDependencies
  readonly #clock: Clock
  readonly #robots: Robots

  constructor(parts: SafeFetcherDependencies) {
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
    this.#robots = new Robots(parts.product, this.#clock)
  }

  readonly readiness = (): Readiness => {
    const names = this.#parts.names.readiness()
    return names.available ? { available: true, engine: 'web' } : names
  }

  readonly check = (text: string): Result<URL> => readPublicUrl(text, this.#parts.urls)

  readonly read = (url: URL, request: WebRequest, signal: AbortSignal): Promise<Result<WebPage>> => {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(this.#parts.totalMs ?? TOTAL_MS)])
    return this.#parts.gate.run(hostOf(url), ended, () => this.#follow(url, request, ended))
  }

  async #follow(start: URL, request: WebRequest, signal: AbortSignal): Promise<Result<WebPage>> {
    const redirects: { readonly status: number; readonly url: string }[] = []
    const seen = new Set<string>()
    let url = start
    while (redirects.length <= REDIRECTS_MAX) {
      const refusal = await this.#refusal(url, request, signal)
      if (refusal !== null) return fail(refusal)
      seen.add(url.href)
      const hop = await this.#hop(url, ofUrl(url, request, request.copyUrl ?? start.href), signal)
      if (!hop.ok) return hop
      if ('page' in hop.value) return ok({ ...hop.value.page, url: start.href, redirects })
      const next = this.#next(url, hop.value.to)
      if (!next.ok) return next
      if (seen.has(next.value.href)) return fail(unusable(url, 'its redirects go in a circle'))
      redirects.push({ status: hop.value.status, url: next.value.href })
      url = next.value
    }
    return fail(unusable(url, `it redirects more than ${REDIRECTS_MAX} times`))
  }

  async #refusal(url: URL, request: WebRequest, signal: AbortSignal): Promise<Fault | null> {
    const checked = this.check(url.href)
    if (!checked.ok) return checked.fault
    if (request.robots !== true || !this.#parts.robots) return null
    const allowed = await this.#robots.allows(url, (file, bytesMax) =>
      this.#follow(file, { accept: 'text/plain, */*;q=0.1', bytesMax, tooLong: 'cut' }, signal),
    )
    if (!allowed.ok) return allowed.fault
    return allowed.value ? null : fault('web/refused', { reason: 'the robots.txt of the site asks not to read it' })
  }

  /** A redirect must pass all checks of the first address, and must not drop https. */
  #next(from: URL, location: string): Result<URL> {
    // Parsing a host takes time quadratic in its length.
    const to = location.length > URL_CHARS_MAX ? null : URL.parse(location, from.href)
    if (to === null) return fail(unusable(from, 'it redirects to an invalid URL'))
    to.hash = ''
    if (from.protocol === 'https:' && to.protocol === 'http:')
      return fail(fault('web/refused', { reason: 'it redirects from https to http' }))
    return this.check(to.href)
  }

  async #hop(url: URL, request: WebRequest, signal: AbortSignal): Promise<Result<Hop>> {
    const connected = await connectToStranger(url, this.#parts, signal)
    if (!connected.ok) return connected
    const { socket, close } = connected.value
    const stopWatching = endFloods(socket, request.bytesMax)
    const client = new Client(url.origin, {
      connect: onlyOnce(socket),
      maxHeaderSize: HEADER_BYTES_MAX,
      pipelining: 1,
      allowH2: false,
    })
    try {
      return await unlessAborted(this.#exchange(client, url, request, signal), signal)
    } catch (error) {
      return fail(signal.aborted ? fault('web/timeout', { host: hostOf(url) }) : brokenBy(url, error))
    } finally {
      stopWatching()
      close()
      void client.destroy().catch(() => {})
    }
  }

  async #exchange(client: Client, url: URL, request: WebRequest, signal: AbortSignal): Promise<Result<Hop>> {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: url.pathname + url.search,
      headers: this.#headers(request),
      reset: true,
      signal,
    })
    // The connection may be cut before the body ends.
    body.on('error', () => {})
    if (statusCode > STATUS_MAX) return fail(unusable(url, 'its status is not an HTTP status'))
    const location = headerOf(headers, 'location')
    if (REDIRECT_STATUSES.has(statusCode) && location !== '') return ok({ to: location, status: statusCode })
    const codings = codingsOf(headerOf(headers, 'content-encoding'))
    if (!canDecode(codings)) return fail(unusable(url, 'its content encoding is not supported'))
    const { bytesMax, until, tooLong } = request
    const { bytes, longer } = await readBody(body, codings, { bytesMax, until })
    if (longer && tooLong === 'fail') return fail(fault('web/too-large', { host: hostOf(url), bytesMax }))
    return ok({ page: this.#page(url, { status: statusCode, headers, bytes, longer }) })
  }

  #headers({ accept, etag, lastModified }: WebRequest): Record<string, string> {
    const known = (name: string, value: string | undefined): Record<string, string> =>
      value !== undefined && isHeaderText(value) ? { [name]: value } : {}
    return {
      'user-agent': this.#parts.userAgent,
      accept,
      'accept-encoding': ACCEPTED_CODINGS,
      ...known('if-none-match', etag),
      ...known('if-modified-since', lastModified),
    }
  }

  #page(
    url: URL,
    answer: {
      readonly status: number
      readonly headers: AnswerHeaders
      readonly bytes: Uint8Array
      readonly longer: boolean
    },
  ): WebPage {
    const { status, headers, bytes, longer } = answer
    const maxAgeMs = maxAgeOf(headers)
    return {
      url: url.href,
      finalUrl: url.href,
      redirects: [],
      status,
      ...contentTypeOf(headers),
      body: bytes,
      truncated: longer,
      etag: validatorOf(headers, 'etag'),
      lastModified: validatorOf(headers, 'last-modified'),
      storable: isStorable(headers),
      ...(maxAgeMs !== null && { maxAgeMs }),
      fetchedAtMs: this.#clock.now(),
    }
  }
}

/** Validators belong to one page (RFC 9110, 8.8), so other URLs of a redirect chain do not get them. */
function ofUrl(url: URL, request: WebRequest, copyUrl: string): WebRequest {
  if (url.href === copyUrl) return request
  const { etag: _etag, lastModified: _lastModified, ...bare } = request
  return bare
}

/**
 * Gives a client the prepared connection once. It answers asynchronously, because the client is not ready during the
 * call.
 */
function onlyOnce(socket: Socket): buildConnector.connector {
  let isUsed = false
  return (_options, callback) => {
    const first = !isUsed
    isUsed = true
    setImmediate(() => (first ? callback(null, socket) : callback(new Error('the connection is used up'), null)))
  }
}

/**
 * Ends a connection that carries far more bytes than its page may have. No other limit counts interim responses and
 * chunk framing. The returned function stops the watch.
 */
function endFloods(socket: Socket, bytesMax: number): () => void {
  const rawMax = bytesMax * RAW_FACTOR + RAW_BYTES_MORE
  const watch = setInterval(() => {
    if (socket.bytesRead > rawMax) socket.destroy(new UnusableBody('it sends far more than its page'))
  }, RAW_CHECK_MS)
  return () => clearInterval(watch)
}

/** Rejects once the signal is aborted, even if the work never ends. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function unusable(url: URL, reason: string): Fault {
  return fault('web/answer', { host: hostOf(url), reason })
}

function brokenBy(url: URL, error: unknown): Fault {
  const { code = '', name } = error as { readonly code?: string; readonly name?: string }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return unusable(url, `its headers are longer than ${HEADER_BYTES_MAX} bytes`)
  if (error instanceof UnusableBody) return unusable(url, error.message)
  if (code === 'ERR_ASSERTION') return unusable(url, 'its status is not an HTTP status')
  if (name === 'HTTPParserError') return unusable(url, 'it is not HTTP')
  if (code.startsWith('Z_') || code.startsWith('ERR_') || code.startsWith('ZSTD'))
    return unusable(url, 'its content encoding is broken')
  return unusable(url, 'it broke off')
}

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

const VALUE_CHARS_MAX = 512

function headerOf(headers: AnswerHeaders, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : (value ?? []).join(', ')
}

function contentTypeOf(headers: AnswerHeaders): {
  readonly contentType: string
  readonly mediaType: string
  readonly charset: string | null
} {
  const value = headers['content-type']
  const contentType = ((typeof value === 'string' ? value : value?.[0]) ?? '').slice(0, VALUE_CHARS_MAX)
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  return { contentType, mediaType, charset: (quoted ?? plain)?.toLowerCase() ?? null }
}

/** A validator header; null if absent, malformed or too long to keep. */
function validatorOf(headers: AnswerHeaders, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' && value.length <= VALUE_CHARS_MAX && isHeaderText(value)
    ? value
    : null
}

/** Whether another caller may get the answer later (RFC 9111). */
function isStorable(headers: AnswerHeaders): boolean {
  const directives = headerOf(headers, 'cache-control').toLowerCase()
  if (/(^|[\s,])(no-store|no-cache|private)($|[\s,=])/.test(directives) || headerOf(headers, 'vary').trim() === '*')
    return false
  return maxAgeOf(headers) !== 0 && (directives !== '' || !/no-cache/i.test(headerOf(headers, 'pragma')))
}

/** Milliseconds from the arrival; null if the site leaves that to the cache (RFC 9111, 4.2.1 and 5.3). */
function maxAgeOf(headers: AnswerHeaders): number | null {
  const directives = headerOf(headers, 'cache-control').toLowerCase()
  const [, seconds] =
    /(?:^|[\s,])s-maxage="?(\d+)/.exec(directives) ?? /(?:^|[\s,])max-age="?(\d+)/.exec(directives) ?? []
  if (seconds !== undefined)
    return Math.max(0, Number(seconds) - Number(/^\d+$/.exec(headerOf(headers, 'age'))?.[0] ?? 0)) * 1_000
  const expires = headerOf(headers, 'expires')
  if (expires === '') return null
  // An invalid date, often "0", means expired. The answer's own two dates are compared, because clocks of two machines
  // may differ.
  const [until, sent] = [Date.parse(expires), Date.parse(headerOf(headers, 'date'))]
  return Number.isNaN(until) ? 0 : Number.isNaN(sent) ? null : Math.max(0, until - sent)
}

function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
