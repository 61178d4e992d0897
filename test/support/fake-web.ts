import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { WebPage, WebReader, WebRequest } from '../../marketplace/ports/web.ts'

/** A page of the fake web. What is left out has a default. */
export type FakePage = Partial<Omit<WebPage, 'body'>> & { readonly body?: string | Uint8Array }

/** A web of pages in memory. It answers at once unless a test sets `gate`. It records what was read. */
export class FakeWeb implements WebReader {
  readonly reads: { readonly url: string; readonly request: WebRequest; readonly signal: AbortSignal }[] = []
  readonly pages: Record<string, FakePage | Result<never> | ((request: WebRequest) => FakePage)> = {}
  nowMs = Date.parse('2026-11-20T12:00:00Z')
  /** Every read waits for this promise. */
  gate: Promise<unknown> = Promise.resolve()

  readonly readiness = () => ({ available: true, engine: 'fake' }) as const

  readonly check = (text: string): Result<URL> =>
    text.includes('10.0.0.1') ? fail(fault('web/refused', { reason: 'its address is private' })) : ok(new URL(text))

  readonly read: WebReader['read'] = async (url, request, signal) => {
    this.reads.push({ url: url.href, request, signal })
    await this.gate
    const known = this.pages[url.href]
    const page = typeof known === 'function' ? known(request) : known
    if (page === undefined) return fail(fault('web/unreachable', { host: url.host, reason: 'there is no such host' }))
    return 'fault' in page ? page : ok(this.#page(url, page as FakePage))
  }

  #page(url: URL, { body = '', contentType = 'text/html; charset=utf-8', ...rest }: FakePage): WebPage {
    return {
      url: url.href,
      finalUrl: url.href,
      redirects: [],
      status: 200,
      contentType,
      mediaType: contentType.split(';')[0] as string,
      charset: /charset=([^;]+)/.exec(contentType)?.[1] ?? null,
      body: typeof body === 'string' ? new Uint8Array(Buffer.from(body)) : body,
      truncated: false,
      etag: null,
      lastModified: null,
      storable: true,
      fetchedAtMs: this.nowMs,
      ...rest,
    }
  }
}
