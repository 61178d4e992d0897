import type { Clock } from '../../../consensus/chain/ports.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { SearchHit } from '../../../marketplace/ports/providers.ts'
import { type JsonAt, readJson } from './json-at.ts'
import type { Provider } from './provider.ts'
import { providerJson } from './provider-fetch.ts'
import { HITS_MAX, readHits, SEARCH_BYTES_MAX } from './search-hits.ts'

const NAME = 'brave'
const HOST = 'https://api.search.brave.com'
/** Every answered query costs the operator money, so an answer saves the checks for this long. */
const PROVEN_MS = 21_600_000

/** What Brave Search needs. */
export interface BraveDependencies {
  /** Base address; null for Brave's own. */
  readonly url: string | null
  readonly key: string
  readonly clock: Clock
}

/** Brave's web search (https://api-dashboard.search.brave.com/app/documentation/web-search/get-started). */
export function brave({ url, key, clock }: BraveDependencies): Provider<string, readonly SearchHit[]> {
  let answeredMs = Number.NEGATIVE_INFINITY
  const ask = async (q: string, count: number, signal: AbortSignal): Promise<Result<readonly SearchHit[]>> => {
    const query = new URLSearchParams({ q, count: String(count), result_filter: 'web', text_decorations: 'false' })
    const headers = { 'x-subscription-token': key }
    const address = `${url ?? HOST}/res/v1/web/search?${query}`
    const answer = await providerJson(NAME, address, { headers, bytesMax: SEARCH_BYTES_MAX, ofCaller: true }, signal)
    const hits = answer.ok ? readJson(NAME, answer.value, readAnswer) : answer
    answeredMs = hits.ok ? clock.now() : Number.NEGATIVE_INFINITY
    return hits
  }
  return {
    name: NAME,
    url: 'https://search.brave.com',
    ask: (query, signal) => ask(query, HITS_MAX, signal),
    check: async (signal) => (clock.now() - answeredMs < PROVEN_MS ? ok(null) : ask('weather', 1, signal)),
  }
}

/** The answer has no `web` if no page fits. */
function readAnswer(json: JsonAt): readonly SearchHit[] {
  json.at('type').like(/^search$/)
  const list = json.at('web').maybe((web) => web.at('results').list())
  return readHits(list ?? [], { snippet: 'description', date: 'page_age' })
}
