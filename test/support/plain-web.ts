import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok } from '../../consensus/primitives/result.ts'
import type { WebReader, WebRequest } from '../../marketplace/ports/web.ts'

const REDIRECTS_MAX = 5

/**
 * A web whose hosts are servers of a test (base URLs by host). Other hosts cannot be reached. It fails with fault codes of the real reader,
 * but does not keep its rules.
 */
export function plainWeb(hosts: Readonly<Record<string, string>>): WebReader {
  return {
    readiness: () => ({ available: true, engine: 'test' }),
    check: (text) => {
      const url = URL.parse(text)
      return url === null ? fail(fault('web/refused', { reason: 'it is no URL' })) : ok(url)
    },
    read: async (start, { accept, bytesMax }: WebRequest, signal) => {
      const redirects: { status: number; url: string }[] = []
      let url = start
      for (;;) {
        const base = hosts[url.host]
        if (base === undefined) return fail(fault('web/unreachable', { host: url.host, reason: 'ENOTFOUND' }))
        try {
          const answer = await fetch(`${base}${url.pathname}${url.search}`, {
            headers: { accept },
            signal,
            redirect: 'manual',
          })
          const { status, headers } = answer
          const location = headers.get('location')
          if (location !== null && redirects.length < REDIRECTS_MAX) {
            await answer.body?.cancel()
            url = new URL(location, url)
            redirects.push({ status, url: url.href })
            continue
          }
          const body = await bodyOf(answer, bytesMax)
          if (body === null) return fail(fault('web/too-large', { host: url.host, bytesMax }))
          const contentType = headers.get('content-type') ?? ''
          return ok({
            url: start.href,
            finalUrl: url.href,
            redirects,
            status,
            contentType,
            mediaType: contentType.split(';')[0]?.trim().toLowerCase() ?? '',
            charset: null,
            body,
            truncated: false,
            etag: null,
            lastModified: null,
            storable: false,
            fetchedAtMs: 0,
          })
        } catch {
          const { host } = url
          return fail(
            signal.aborted ? fault('web/timeout', { host }) : fault('web/unreachable', { host, reason: 'cut' }),
          )
        }
      }
    },
  }
}

async function bodyOf(answer: Response, bytesMax: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
