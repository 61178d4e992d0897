import type { UpstreamAnswer, UpstreamHandler } from './upstream.ts'

/** Token that the fake accepts. */
export const BRAVE_KEY = 'brave-test-token'

/** A result as Brave lists it. */
export interface BraveResult {
  readonly title: string
  readonly url: string
  readonly description: string
  readonly page_age?: string
}

/** Default results. */
export const BRAVE_RESULTS: readonly BraveResult[] = [
  {
    title: 'ML-DSA explained',
    url: 'https://example.com/ml-dsa',
    description: 'How <strong>ML-DSA</strong> works',
    page_age: '2025-02-03T04:05:06',
  },
  { title: 'Lattices', url: 'http://lattices.example/', description: '1 &lt; 2 &#x26; 3' },
]

/**
 * Brave's web search. Parameters, header and the fields of `WebSearchApiResponse`:
 * https://api-dashboard.search.brave.com/app/documentation/web-search/query,
 * https://api-dashboard.search.brave.com/app/documentation/web-search/responses. Sections without results are absent.
 */
export function braveUpstream(results: readonly BraveResult[] = BRAVE_RESULTS): UpstreamHandler {
  return ({ path, query, headers }): UpstreamAnswer => {
    if (path !== '/res/v1/web/search') return { status: 404, body: { type: 'ErrorResponse' } }
    if (headers['x-subscription-token'] !== BRAVE_KEY) return { status: 401, body: { type: 'ErrorResponse' } }
    const q = query.get('q') ?? ''
    const count = Number(query.get('count') ?? '20')
    const isWell = q !== '' && q.length <= 400 && q.split(' ').length <= 50 && count >= 1 && count <= 20
    if (!isWell) return { status: 422, body: { type: 'ErrorResponse', error: { code: 'VALIDATION', status: 422 } } }
    const found = results.slice(0, count).map((result) => ({ ...result, type: 'search_result', language: 'en' }))
    const web = found.length === 0 ? {} : { web: { type: 'search', results: found, family_friendly: true } }
    return { body: { type: 'search', query: { original: q, more_results_available: false }, ...web } }
  }
}
