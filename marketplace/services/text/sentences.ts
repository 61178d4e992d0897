import { stretches } from './sentence-ends.ts'

/** A sentence of a text: the part of it from `start` on, without the space around it. */
export interface Sentence {
  readonly start: number
  readonly text: string
}

/** Sentences shorter or longer than this say too little, or are no sentences. */
const USABLE_CHARS = { min: 12, max: 600 }
const USABLE_WORDS_MIN = 3
/** Most pieces of a text that are looked at, usable or not. */
const PIECES_MAX = 5_000
const WORD = /[\p{L}\p{N}]+/gu
/** A line that was only broken to fit a screen goes on in lower case. */
const WRAP = /(?<=[\p{L}\p{N},;])\r?\n(?=\p{Ll})/gu

/** Sentences of a text that can stand alone, each once and verbatim, in order. Stops after `max` of them. */
export function usableSentences(text: string, max: number): readonly Sentence[] {
  const found = new Map<string, Sentence>()
  let pieces = 0
  // Line breaks become as many spaces: places in the flowing text are places in the text.
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

/** Words of a text in lower case: letters and digits. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? []
}

/** Whether a part of a text says something, and is short enough to be shown whole. */
export function isUsable(sentence: string): boolean {
  if (sentence.length < USABLE_CHARS.min || sentence.length > USABLE_CHARS.max) return false
  return wordsOf(sentence).filter((word) => /\p{L}/u.test(word)).length >= USABLE_WORDS_MIN
}
