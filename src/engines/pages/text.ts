/**
 * Control characters, zero-width spaces, line separators, and direction marks that can make a text read as another one.
 */
const INVISIBLE = /(?![\t\n\r])[\p{Cc}\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu
const CJK = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}'
const WORD = new RegExp(`[${CJK}]|(?:(?![${CJK}])[\\p{L}\\p{N}])+(?:['’.-](?:(?![${CJK}])[\\p{L}\\p{N}])+)*`, 'gu')

/** In UTF-16 units. A surrogate pair is not split. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const last = text.charCodeAt(charsMax - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? charsMax - 1 : charsMax)
}

/** A text without invisible characters. */
export function visible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '')
}

/** Null if nothing is left. */
export function oneLine(text: string | null | undefined, charsMax: number): string | null {
  if (typeof text !== 'string') return null
  // Later characters could only be reached if most of the text were blanks.
  const line = visible(cutText(text, charsMax * 20))
    .replace(/\s+/g, ' ')
    .trim()
  const cut = cutText(line, charsMax).trimEnd()
  return cut === '' ? null : cut
}

/** Each Han or kana character counts as a word. */
export function countWords(text: string): number {
  let words = 0
  for (const _ of text.matchAll(WORD)) words += 1
  return words
}

/** Years outside this range are mistakes. */
const YEARS = [1, 9_999] as const
/** A text in none of these forms is not a date, even if `Date` parses it. */
const DATE =
  /^\d{4}-\d{2}|^\d{4}$|\d{1,2}[\s-]+[a-z]{3,9}\.?,?[\s-]+\d{2,4}|[a-z]{3,9}\.?\s+\d{1,2},?\s|\d{1,4}\/\d{1,2}\/\d{1,4}/i

/** ISO 8601 in UTC, from ISO 8601, RFC 822 and other common forms. Null if the text is not a date. */
export function isoDate(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 64 || !DATE.test(text.trim())) return null
  const date = new Date(text.trim())
  const year = date.getUTCFullYear()
  return year >= YEARS[0] && year <= YEARS[1] ? date.toISOString() : null
}

const LINK_PROTOCOLS = new Set(['http:', 'https:'])
const URL_CHARS_MAX = 2_048

/** Absolute. Null for other schemes than http(s), and above 2,048 characters. */
export function webUrl(text: unknown, base: string): string | null {
  if (typeof text !== 'string' || text.length > URL_CHARS_MAX || text.trim() === '') return null
  const url = URL.parse(text.trim(), base)
  return url !== null && LINK_PROTOCOLS.has(url.protocol) && url.href.length <= URL_CHARS_MAX ? url.href : null
}
