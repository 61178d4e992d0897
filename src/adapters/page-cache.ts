import { LRUCache } from 'lru-cache'
import type { Clock } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { WebPage, WebReader, WebRequest } from '../../marketplace/ports/web.ts'

/** Maximum bytes of all cached pages. */
export const BYTES_MAX = 32 * 1_024 * 1_024
/** Memory of a cached page beside its body. */
const PAGE_BYTES = 4_096
/** How long a page with validators is kept for revalidation. */
const REVALIDATE_MS = 3_600_000

interface Flight {
  readonly page: Promise<Result<WebPage>>
  readonly controller: AbortController
  waiting: number
}

/**
 * Caches the pages of another reader, if the request accepts an older copy (`freshMs`) and the site allows it. Equal
 * requests at the same time share one read.
 */
export class PageCache implements WebReader {
  readonly #reader: WebReader
  readonly #clock: Clock
  readonly #kept: LRUCache<string, WebPage>
  readonly #flights = new Map<string, Flight>()

  constructor(reader: WebReader, clock: Clock, bytesMax: number = BYTES_MAX) {
    this.#reader = reader
    this.#clock = clock
    this.#kept = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ body }) => body.length + PAGE_BYTES })
  }

  readonly readiness: WebReader['readiness'] = () => this.#reader.readiness()

  readonly check: WebReader['check'] = (text) => this.#reader.check(text)

  readonly read: WebReader['read'] = async (url, request, signal) => {
    if (request.freshMs === undefined) return this.#reader.read(url, request, signal)
    const key = keyOf(url, request)
    const kept = this.#kept.get(key)
    const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() - kept.fetchedAtMs
    const freshMs = Math.min(request.freshMs, kept?.maxAgeMs ?? Number.POSITIVE_INFINITY)
    if (kept !== undefined && ageMs >= 0 && ageMs < freshMs) return ok(kept)
    const usable = ageMs >= 0 && ageMs < REVALIDATE_MS ? kept : undefined
    return this.#join(key, url, signal, () => this.#readAnew(key, url, request, usable))
  }

  async #join(
    key: string,
    url: URL,
    signal: AbortSignal,
    begin: () => (signal: AbortSignal) => Promise<Result<WebPage>>,
  ): Promise<Result<WebPage>> {
    if (signal.aborted) return fail(fault('web/timeout', { host: url.host }))
    const flight = this.#flights.get(key) ?? this.#depart(key, begin())
    flight.waiting += 1
    try {
      return await orAborted(flight.page, url, signal)
    } finally {
      flight.waiting -= 1
      if (flight.waiting === 0) {
        flight.controller.abort()
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
      }
    }
  }

  #depart(key: string, read: (signal: AbortSignal) => Promise<Result<WebPage>>): Flight {
    const controller = new AbortController()
    const flight = { page: read(controller.signal), controller, waiting: 0 }
    this.#flights.set(key, flight)
    return flight
  }

  #readAnew(
    key: string,
    url: URL,
    request: WebRequest,
    kept: WebPage | undefined,
  ): (signal: AbortSignal) => Promise<Result<WebPage>> {
    return async (signal) => {
      const page = await this.#reader.read(url, { ...request, ...validatorsOf(kept) }, signal)
      if (!page.ok) return page
      const { status, finalUrl } = page.value
      // A 304 from another final URL is about another page.
      const isSame = status === 304 && finalUrl === kept?.finalUrl
      const current = isSame ? revalidated(kept, page.value) : page.value
      if (current.storable && current.status < 500) this.#kept.set(key, current)
      else this.#kept.delete(key)
      return ok(current)
    }
  }
}

function validatorsOf(kept: WebPage | undefined): Pick<WebRequest, 'etag' | 'lastModified' | 'copyUrl'> {
  if (kept === undefined) return {}
  const { etag, lastModified, finalUrl: copyUrl } = kept
  return { ...(etag && { etag }), ...(lastModified && { lastModified }), copyUrl }
}

/** The redirects to an unchanged page may have changed. */
function revalidated({ maxAgeMs: before, ...kept }: WebPage, said: WebPage): WebPage {
  const { fetchedAtMs, storable, redirects, maxAgeMs = before } = said
  return { ...kept, fetchedAtMs, storable, redirects, ...(maxAgeMs !== undefined && { maxAgeMs }) }
}

function keyOf({ href }: URL, { accept, bytesMax, tooLong, until, robots }: WebRequest): string {
  return JSON.stringify([href, accept, bytesMax, tooLong, until, robots])
}

function orAborted(page: Promise<Result<WebPage>>, { host }: URL, signal: AbortSignal): Promise<Result<WebPage>> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(fail(fault('web/timeout', { host })))
    signal.addEventListener('abort', giveUp, { once: true })
    page.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
