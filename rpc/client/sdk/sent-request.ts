type Fetch = typeof globalThis.fetch

/** A request with its body, which can be sent several times. */
export interface SentRequest {
  readonly request: Request
  readonly body: Uint8Array<ArrayBuffer> | null
  readonly caller: Caller
}

/**
 * The caller's request, and undici's dispatcher if one was given. The request is kept for its signal: a request made from
 * another one holds that signal only weakly, so garbage collection could lose it.
 */
export interface Caller {
  readonly request: Request
  readonly dispatcher?: unknown
}

function optionsOf({ request, dispatcher }: Caller): RequestInit {
  return { signal: request.signal, ...(dispatcher === undefined ? {} : { dispatcher }) }
}

/** Sends a request once, and follows redirects as it says. */
export function send(fetch: Fetch, sent: SentRequest): Promise<Response> {
  return fetch(rebuilt(sent), optionsOf(sent.caller))
}

const REDIRECTS_MAX = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function rebuilt({ request, body }: SentRequest): Request {
  return new Request(request, { headers: request.headers, ...(body === null ? {} : { body }) })
}

/** The same request with other headers, and with another method, address or body if given. */
export function changed(
  { request, body, caller }: SentRequest,
  { headers, url = request.url, method = request.method, ...more }: Changes,
): SentRequest {
  const left = more.body === undefined ? body : more.body
  const isMoved = url !== request.url || method !== request.method
  const { credentials, redirect } = request
  const made = isMoved
    ? new Request(url, { method, headers, credentials, redirect })
    : new Request(request, { headers, ...(left === null ? {} : { body: left }) })
  return { request: made, body: left, caller }
}

interface Changes {
  readonly headers: Headers
  readonly url?: string
  readonly method?: string
  readonly body?: Uint8Array<ArrayBuffer> | null
}

/**
 * Sends a request with a payment. Redirects within the origin are followed as by `fetch`. A redirect to another origin is returned, since
 * only the seller may see the proof of payment. Browsers hide the target of a redirect, so there no redirect is followed.
 */
export async function sendWithinOrigin(fetch: Fetch, sent: SentRequest, left = REDIRECTS_MAX): Promise<Response> {
  const { request } = sent
  if (request.redirect !== 'follow') return send(fetch, sent)
  const response = await fetch(rebuilt(sent), { ...optionsOf(sent.caller), redirect: 'manual' })
  const url = REDIRECTS.has(response.status) && left > 0 ? targetOf(response, request) : undefined
  if (url === undefined) return response
  void response.body?.cancel().catch(() => {})
  return sendWithinOrigin(fetch, redirected(sent, response.status, url), left - 1)
}

/** Whether a redirected answer came from another origin, or does not tell its origin. */
export function isFromElsewhere({ redirected, url }: Response, request: Request): boolean {
  return redirected && (!URL.canParse(url) || new URL(url).origin !== new URL(request.url).origin)
}

function targetOf(response: Response, request: Request): string | undefined {
  const location = response.headers.get('location')
  if (location === null || !URL.canParse(location, request.url)) return undefined
  const { origin, href } = new URL(location, request.url)
  return origin === new URL(request.url).origin ? href : undefined
}

function redirected(sent: SentRequest, status: number, url: string): SentRequest {
  const { method, headers } = sent.request
  const isRead = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST'
  if (!isRead) return changed(sent, { headers, url })
  const left = new Headers([...headers].filter(([name]) => !name.startsWith('content-')))
  return changed(sent, { headers: left, url, method: 'GET', body: null })
}
