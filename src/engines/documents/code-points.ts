/** Sorted ranges: first and last code point of each in turn. */
export type CodePoints = readonly number[]

/**
 * Scripts that are written letter by letter from left to right. Bidirectional and joined scripts would come out wrong,
 * so they are refused.
 */
const SCRIPTS = [
  'Latin',
  'Greek',
  'Cyrillic',
  'Armenian',
  'Georgian',
  'Coptic',
  'Ogham',
  'Runic',
  'Lisu',
  'Canadian_Aboriginal',
  'Ethiopic',
  'Cherokee',
  'Braille',
  'Han',
  'Hiragana',
  'Katakana',
  'Bopomofo',
  'Hangul',
  'Yi',
  'Common',
  'Inherited',
]
const PLAIN_SCRIPT = new RegExp(`^[${SCRIPTS.map((name) => `\\p{Script_Extensions=${name}}`).join('')}]$`, 'u')
const UNSEEN = /^[\p{C}\p{Zl}\p{Zp}\p{Variation_Selector}]$/u
/** Hangul parts that would have to be composed into syllables. */
const CONJOINING = /^[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]$/u

/** Whether a character can be drawn as one glyph, or with marks above its base. */
export function isSetPlainly(codePoint: number): boolean {
  const character = String.fromCodePoint(codePoint)
  return PLAIN_SCRIPT.test(character) && !UNSEEN.test(character) && !CONJOINING.test(character)
}

/** Code points in any order, as ranges. */
export function rangesOf(codePoints: Iterable<number>): CodePoints {
  const ranges: number[] = []
  for (const codePoint of [...new Set(codePoints)].sort((a, b) => a - b)) {
    if (ranges.at(-1) === codePoint - 1) ranges[ranges.length - 1] = codePoint
    else ranges.push(codePoint, codePoint)
  }
  return ranges
}

/** Whether the ranges include a code point. */
export function includesCodePoint(ranges: CodePoints, codePoint: number): boolean {
  let [low, high] = [0, ranges.length / 2 - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    if (codePoint < (ranges[2 * middle] as number)) high = middle - 1
    else if (codePoint > (ranges[2 * middle + 1] as number)) low = middle + 1
    else return true
  }
  return false
}

/** Hexadecimal: `20-7e a0-ff`. */
export function formatRanges(ranges: CodePoints): string {
  const parts: string[] = []
  for (let i = 0; i < ranges.length; i += 2)
    parts.push(`${(ranges[i] as number).toString(16)}-${(ranges[i + 1] as number).toString(16)}`)
  return parts.join(' ')
}

/** Parses the text that {@link formatRanges} writes. */
export function parseRanges(text: string): CodePoints {
  return text === '' ? [] : text.split(/[ -]/).map((part) => Number.parseInt(part, 16))
}
