import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Outside } from '../../ports/outside.ts'
import type { Source } from '../../ports/sourced.ts'
import type { WebPage } from '../../ports/web.ts'

/** The text of a page, and its source. */
export interface WebText {
  readonly text: string
  /** Whether the page or its text was cut. */
  readonly truncated: boolean
  readonly source: Source
}

const PAGE_BYTES_MAX = 2 * 1024 * 1024
/** Media types of readable text, as opposed to data. */
const READABLE = ['text/html', 'application/xhtml+xml', 'text/plain', 'text/markdown']

/** A fault for an error page, and for a page of a media type that is not readable text. */
export async function readWebText(
  { web, engines }: Pick<Outside, 'web' | 'engines'>,
  url: string,
  signal: AbortSignal,
): Promise<Result<WebText>> {
  const address = web.check(url)
  if (!address.ok) return address
  const page = await web.read(
    address.value,
    { accept: `${READABLE.join(', ')};q=0.9`, bytesMax: PAGE_BYTES_MAX, tooLong: 'cut', robots: true },
    signal,
  )
  if (!page.ok) return page
  const { body, mediaType, charset, finalUrl } = page.value
  const unusable = unusableReason(page.value)
  if (unusable !== null) return fail(fault('web/answer', { host: address.value.host, reason: unusable }))
  const article = await engines.run('page/article', { bytes: body, mediaType, charset, url: finalUrl }, signal)
  if (!article.ok) return article
  const { text, truncated } = article.value
  return ok({ text: text.trim(), truncated: truncated || page.value.truncated, source: sourceOf(page.value) })
}

function unusableReason({ status, mediaType }: WebPage): string | null {
  if (status < 200 || status > 299) return `it has the status ${status}`
  return READABLE.includes(mediaType)
    ? null
    : `it is ${mediaType.slice(0, 80) || 'of no known type'}, not a text to read`
}

function sourceOf({ finalUrl, fetchedAtMs }: WebPage): Source {
  return {
    name: new URL(finalUrl).host,
    url: finalUrl,
    fetchedAt: new Date(fetchedAtMs).toISOString(),
    stale: false,
  }
}
