import type { SearchHit } from '../../../marketplace/ports/providers.ts'
import { instantText } from './instant.ts'
import type { JsonAt } from './json-at.ts'
import { plainText } from './plain-text.ts'

/** Maximum pages of a search result. */
export const HITS_MAX = 10
/** Maximum bytes of a provider's answer to a search. */
export const SEARCH_BYTES_MAX = 2_097_152

const TITLE_CHARS_MAX = 200
const SNIPPET_CHARS_MAX = 500
const URL_CHARS_MAX = 2_048
const DAY = /^\d{4}-\d{2}-\d{2}/
const ZONED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** The provider's names for the parts of a found page. */
export interface HitNames {
  readonly snippet: string
  readonly date: string
}

/** Without duplicates, and without entries that have no web address. */
export function readHits(list: readonly JsonAt[], names: HitNames): readonly SearchHit[] {
  const hits = new Map<string, SearchHit>()
  for (const item of list) {
    const hit = readHit(item, names)
    if (hit !== null && !hits.has(hit.url)) hits.set(hit.url, hit)
    if (hits.size === HITS_MAX) break
  }
  return [...hits.values()]
}

function readHit(item: JsonAt, names: HitNames): SearchHit | null {
  const url = item.at('url').maybe((here) => webUrl(here.text())) ?? null
  const title = item.at('title').maybe((here) => plainText(here.text(), TITLE_CHARS_MAX)) ?? ''
  const snippet = item.at(names.snippet).maybe((here) => plainText(here.text(), SNIPPET_CHARS_MAX)) ?? ''
  const date = item.at(names.date).maybe((here) => dateOf(here.text()))
  return url === null ? null : { title: title === '' ? url.host : title, url: url.href, snippet, date }
}

function webUrl(text: string): URL | null {
  // A stranger chose the address, and a long one takes long to parse.
  const url = text.length > URL_CHARS_MAX ? null : URL.parse(text)
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return isWeb && url.href.length <= URL_CHARS_MAX ? url : null
}

/** A moment if the text has a time zone, else its day; null if it is no date. */
function dateOf(text: string): string | null {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) return null
  if (ZONED.test(text)) return instantText(ms)
  return DAY.exec(text)?.[0] ?? null
}
