import type { UpstreamAnswer, UpstreamHandler, UpstreamRequest } from './upstream.ts'

/** A result as SearXNG lists it. */
export interface SearxngResult {
  readonly url: string | null
  readonly title: string
  readonly content?: string
  readonly publishedDate?: string | null
}

/** Settings of an instance. */
export interface SearxngParts {
  readonly results?: readonly SearxngResult[]
  /** Pairs of an engine and its error. */
  readonly unresponsive?: readonly (readonly [string, string])[]
  readonly formats?: readonly string[]
}

/** Two pages, one with markup and a date, and two results that are not pages. */
export const SEARXNG_RESULTS: readonly SearxngResult[] = [
  {
    url: 'https://csrc.nist.gov/pubs/fips/204/final',
    title: 'FIPS 204, <b>ML-DSA</b>',
    content: 'Signatures &amp; keys\n that last',
    publishedDate: '2024-08-13T00:00:00',
  },
  { url: 'ftp://files.example/fips204.pdf', title: 'not on the web' },
  { url: null, title: 'a definition' },
  { url: 'https://example.org/a?b=c#d', title: 'Elsewhere', content: 'More of it', publishedDate: null },
]

/**
 * A SearXNG instance. Requests, formats and the 403 for a format that is not listed: https://docs.searxng.org/dev/search_api.html and
 * https://docs.searxng.org/admin/settings/settings_search.html; fields of results: https://docs.searxng.org/dev/result_types/index.html.
 * The format is checked before a missing query (searx/webapp.py of https://github.com/searxng/searxng). A word that begins with two
 * exclamation marks redirects to another site: https://docs.searxng.org/user/search-syntax.html.
 */
export function searxngUpstream(parts: SearxngParts = {}): UpstreamHandler {
  const { results = SEARXNG_RESULTS, unresponsive = [], formats = ['html', 'json'] } = parts
  return ({ path, query }: UpstreamRequest): UpstreamAnswer => {
    if (path !== '/search') return { status: 404, body: 'Not Found' }
    const format = query.get('format') ?? 'html'
    if (!formats.includes(format)) return { status: 403, body: '<h1>Forbidden</h1>' }
    const q = query.get('q') ?? ''
    if (q === '') return { status: 400, body: { error: 'No query' } }
    const bang = /(?:^|\s)!!(\S*)/.exec(q)?.[1]
    if (bang !== undefined) return { status: 302, headers: { location: `https://${bang}.example/` }, body: '' }
    const found = results.map((result) => ({ ...result, engine: 'duckduckgo', engines: ['duckduckgo'], score: 1 }))
    const rest = { answers: [], corrections: [], infoboxes: [], suggestions: [] }
    const body = { query: q, number_of_results: 0, results: found, ...rest, unresponsive_engines: unresponsive }
    return { body }
  }
}
