import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { SearchHit } from '../../../marketplace/ports/providers.ts'
import { type JsonAt, readJson } from './json-at.ts'
import type { Provider } from './provider.ts'
import { ofQuestion, providerJson } from './provider-fetch.ts'
import { readHits, SEARCH_BYTES_MAX } from './search-hits.ts'

const NAME = 'searxng'
const JSON_OFF = 'status 403: its JSON format is off, list json under search.formats in its settings.yml'

/**
 * Prefixes of query words that choose an engine, a language, a time limit or a redirect
 * (https://docs.searxng.org/user/search-syntax.html). They are removed, because only searches are sold.
 */
const COMMANDS = /(?<![^\s])[!?:<]+/g
const NO_WORDS = fault('provider/answer', {
  provider: NAME,
  reason: 'there are no words in the query',
  ...ofQuestion(true),
})

/**
 * The operator's own SearXNG (https://docs.searxng.org/dev/search_api.html). It answers 403 unless its settings enable
 * the JSON format, and decides that before it reads the query. So the check sends no query and bothers no engine.
 */
export function searxng(url: string): Provider<string, readonly SearchHit[]> {
  const get = async (query: Readonly<Record<string, string>>, alsoAnswers: readonly number[], signal: AbortSignal) => {
    const address = `${url}/search?${new URLSearchParams({ ...query, format: 'json' })}`
    const answer = await providerJson(
      NAME,
      address,
      { bytesMax: SEARCH_BYTES_MAX, alsoAnswers, ofCaller: true },
      signal,
    )
    return answer.ok ? answer : fail(inWords(answer.fault))
  }
  return {
    name: NAME,
    ask: async (query, signal) => {
      const q = query.replace(COMMANDS, '').replace(/\s+/g, ' ').trim()
      if (q === '') return fail(NO_WORDS)
      const answer = await get({ q }, [], signal)
      return answer.ok ? hitsOf(answer.value) : answer
    },
    check: async (signal) => {
      const answer = await get({}, [400], signal)
      return answer.ok ? readJson(NAME, answer.value, (json) => json.at('error').text()) : answer
    },
  }
}

function hitsOf(value: unknown): Result<readonly SearchHit[]> {
  const read = readJson(NAME, value, (json) => ({
    hits: readHits(json.at('results').list(), { snippet: 'content', date: 'publishedDate' }),
    silent: json.at('unresponsive_engines').maybe((here) => here.list().map(engineName)) ?? [],
  }))
  if (!read.ok) return read
  const { hits, silent } = read.value
  if (hits.length > 0 || silent.length === 0) return ok(hits)
  // No results while engines are silent does not mean "nothing found". But some engine is often silent, and a caller
  // can easily make a query without results, so the query may be the cause.
  const inShort = 'engines of it did not answer'
  const reason = `${inShort}: ${silent.join(', ').slice(0, 100)}`
  return fail(fault('provider/answer', { provider: NAME, reason, inShort, ...ofQuestion(true) }))
}

/** A silent engine is a pair of name and reason. */
function engineName(item: JsonAt): string {
  return item.list()[0]?.text() ?? item.wrong('is empty')
}

function inWords(cause: Fault): Fault {
  const isOff = cause.code === 'provider/refused' && cause.detail.reason === 'status 403'
  return isOff ? fault('provider/refused', { ...cause.detail, reason: JSON_OFF }) : cause
}
