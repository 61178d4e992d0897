/** Control characters that say nothing in a text, and order marks that can make it read as another one. */
const INVISIBLE = /(?![\t\n\r])[\p{Cc}\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu
const CJK = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}'
const WORD = new RegExp(`[${CJK}]|(?:(?![${CJK}])[\\p{L}\\p{N}])+(?:['’.-](?:(?![${CJK}])[\\p{L}\\p{N}])+)*`, 'gu')

/** The beginning of a text with at most so many UTF-16 units; no character is cut in half. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const last = text.charCodeAt(charsMax - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? charsMax - 1 : charsMax)
}

/** A text without characters that cannot be seen. */
export function visible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '')
}

/** A text in one line, cut; null where nothing is left of it. */
export function oneLine(text: string | null | undefined, charsMax: number): string | null {
  if (typeof text !== 'string') return null
  // Whatever comes after could not be seen in so many characters, unless most of it were blanks.
  const line = visible(cutText(text, charsMax * 20))
    .replace(/\s+/g, ' ')
    .trim()
  const cut = cutText(line, charsMax).trimEnd()
  return cut === '' ? null : cut
}

/** Words of a text; of scripts that write none apart, characters. */
export function countWords(text: string): number {
  let words = 0
  for (const _ of text.matchAll(WORD)) words += 1
  return words
}

/** Points of time that documents may be about; a date beyond is a mistake. */
const YEARS = [1, 9_999] as const
/** Without a day, month and year in some order a text is no date, whatever the parser of dates makes of it. */
const DATE =
  /^\d{4}-\d{2}|^\d{4}$|\d{1,2}[\s-]+[a-z]{3,9}\.?,?[\s-]+\d{2,4}|[a-z]{3,9}\.?\s+\d{1,2},?\s|\d{1,4}\/\d{1,2}\/\d{1,4}/i

/** A date as a page writes it (ISO 8601, RFC 822 and what else is read by everybody) as ISO 8601 in UTC; null for none. */
export function isoDate(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 64 || !DATE.test(text.trim())) return null
  const date = new Date(text.trim())
  const year = date.getUTCFullYear()
  return year >= YEARS[0] && year <= YEARS[1] ? date.toISOString() : null
}

const LINK_PROTOCOLS = new Set(['http:', 'https:'])
const URL_CHARS_MAX = 2_048

/** An address of a page as an absolute http(s) URL; null for everything else, and for what is longer than 2 048 characters. */
export function webUrl(text: unknown, base: string): string | null {
  if (typeof text !== 'string' || text.length > URL_CHARS_MAX || text.trim() === '') return null
  const url = URL.parse(text.trim(), base)
  return url !== null && LINK_PROTOCOLS.has(url.protocol) && url.href.length <= URL_CHARS_MAX ? url.href : null
}
