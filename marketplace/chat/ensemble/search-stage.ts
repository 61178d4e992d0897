import { ok } from '../../../consensus/primitives/result.ts'
import type { SearchHit } from '../../ports/providers.ts'
import type { Source, Stage } from '../stage.ts'
import { quoted, withInstruction } from './instruct.ts'
import { SOURCES_HEAD } from './prompts.ts'
import { routeOf } from './route-stage.ts'
import { wantsSearch } from './router.ts'

const SOURCES_MAX = 6
const TITLE_CHARS_MAX = 200
const SNIPPET_CHARS_MAX = 500
const URL_CHARS_MAX = 2_048
const QUERY_CHARS_MAX = 300
const QUERY_WORDS_MAX = 40
/** Longest time of a search. Its target time is TIER_BUDGET_MS.search. */
const SEARCH_MS = 6_000

/** Searches the web, with the providers of node-web-search, for what the models cannot know. */
export const searchStage: Stage = {
  name: 'Web search',
  about:
    'Searches the web where the question is about current events or facts, and gives the models what was found, to be cited.',
  keeps: 0.6,
  skip: (state, { means }) => {
    const { tier, task } = routeOf(state)
    if (task === 'images') return 'the question is about images'
    if (tier === 'instant' || !wantsSearch(state.question)) return 'the question needs no search'
    const ready = means.search.readiness()
    return ready.available ? null : `no search: ${ready.reason}`
  },
  run: async (state, { means, signal, call }) => {
    const query = queryOf(state.question)
    const found = await means.search.ask(
      query,
      AbortSignal.any([signal, AbortSignal.timeout(SEARCH_MS)]),
      call.isPaid !== true,
    )
    if (!found.ok) return found
    const sources = sourcesOf(found.value.value)
    const search = { query, provider: found.value.source.name, stale: found.value.source.stale, pages: sources.length }
    const facts = { ...state.facts, search }
    if (sources.length === 0) return ok({ ...state, facts })
    const content = `${SOURCES_HEAD}\n${quoted('pages', sources)}`
    return ok({ ...state, sources, facts, messages: withInstruction(state.messages, content) })
  },
}

/** The words without code blocks and line breaks, cut to the providers' limits. */
export function queryOf(question: string): string {
  const words = question
    .slice(0, 4 * QUERY_CHARS_MAX)
    .replace(/```[^`]*(?:```|$)/g, ' ')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .split(' ')
    .slice(0, QUERY_WORDS_MAX)
  return words.join(' ').slice(0, QUERY_CHARS_MAX).toWellFormed().trim()
}

/** Numbered from 1. Duplicates and addresses that are not http(s) are dropped. */
export function sourcesOf(hits: readonly SearchHit[]): readonly Source[] {
  const seen = new Set<string>()
  const usable = hits.filter(({ url }) => {
    const isNew = !seen.has(url)
    seen.add(url)
    return isNew && url.length <= URL_CHARS_MAX && /^https?:\/\//i.test(url) && URL.canParse(url)
  })
  return usable.slice(0, SOURCES_MAX).map(({ title, url, snippet }, i) => ({
    index: i + 1,
    url,
    title: plain(title, TITLE_CHARS_MAX) || new URL(url).host,
    snippet: plain(snippet, SNIPPET_CHARS_MAX),
  }))
}

/** Marks such as [3] in untrusted text would look like citations of this node. */
function plain(text: string, chars: number): string {
  return text
    .slice(0, 4 * chars)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replace(/\[[\d ,]{1,12}\]/g, '')
    .trim()
    .slice(0, chars)
    .toWellFormed()
}
