/** Far longer than any text that is wanted of a provider, so that work on one text has an end. */
const READ_CHARS_MAX = 20_000
const TAG_ROUNDS_MAX = 8
const TAG = /<!--[^<>]*-->|<\/?[a-z][^<>]*>/gi
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi
/** Controls, and what turns the direction of the text around it. */
const UNSEEN = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '\u2026',
  ndash: '\u2013',
  mdash: '\u2014',
}

/** Text as people read it, from text with or without marks of HTML; in one line, cut to this many characters. */
export function plainText(marked: string, charsMax: number): string {
  const text = withoutTags(marked.slice(0, READ_CHARS_MAX)).replace(ENTITY, entity).replace(UNSEEN, ' ')
  return cut(text.toWellFormed().replace(/\s+/g, ' ').trim(), charsMax)
}

/** What is left around a tag can be one again. */
function withoutTags(marked: string): string {
  let text = marked
  for (let round = 0; round < TAG_ROUNDS_MAX; round++) {
    const less = text.replace(TAG, '')
    if (less === text) break
    text = less
  }
  return text
}

/** The beginning of a text, without half a character at its end. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const end = charsMax - 1
  const isPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return `${text.slice(0, isPair ? end - 1 : end).trimEnd()}\u2026`
}

function entity(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
  const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  const isCharacter = point > 0 && point <= 0x10ffff && (point & 0x1ff800) !== 0xd800
  return isCharacter ? String.fromCodePoint(point) : ' '
}
