import { stretches } from './sentence-ends.ts'

/** A sentence of a text, trimmed; `start` is its position. */
export interface Sentence {
  readonly start: number
  readonly text: string
}

/** Shorter sentences say too little; longer ones are usually no sentences. */
const USABLE_CHARS = { min: 12, max: 600 }
const USABLE_WORDS_MIN = 3
/** Maximum pieces of a text that are examined, usable or not. */
const PIECES_MAX = 5_000
const WORD = /[\p{L}\p{N}]+/gu
/** A line break before lower case is only a wrap. */
const WRAP = /(?<=[\p{L}\p{N},;])\r?\n(?=\p{Ll})/gu

/** Sentences of a text that {@link isUsable} accepts, verbatim, in order, without duplicates; at most `max`. */
export function usableSentences(text: string, max: number): readonly Sentence[] {
  const found = new Map<string, Sentence>()
  let pieces = 0
  // Each line break within a sentence becomes spaces of the same length, so that positions stay the same.
  const flowing = text.replaceAll(WRAP, (broken) => ' '.repeat(broken.length))
  for (const piece of stretches(flowing)) {
    if (found.size === max || pieces++ === PIECES_MAX) break
    const start = piece.start + piece.text.length - piece.text.trimStart().length
    const sentence = text.slice(start, start + piece.text.trim().length)
    const key = sentence.toLowerCase()
    if (isUsable(sentence) && !found.has(key)) found.set(key, { start, text: sentence })
  }
  return [...found.values()]
}

/** Words of a text in lower case; letters and digits only. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? []
}

/** Whether a part has enough words and is short enough to quote whole. */
export function isUsable(sentence: string): boolean {
  if (sentence.length < USABLE_CHARS.min || sentence.length > USABLE_CHARS.max) return false
  return wordsOf(sentence).filter((word) => /\p{L}/u.test(word)).length >= USABLE_WORDS_MIN
}
