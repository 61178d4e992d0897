import { francAll } from 'franc'
import { type WordSigns, wordSigns } from './word-signs.ts'

/** The guessed language of a text. */
export interface LanguageGuess {
  /** BCP 47 code; `und` if it cannot be told. */
  readonly language: string
  /** Whether the text gave no evidence, so that the language is only assumed. */
  readonly assumed: boolean
}

/** Shorter texts have too few trigrams for a guess. */
const GUESS_CHARS_MIN = 40
/** Analysed length: enough for a sure guess, and short enough to analyse at every quote. */
const GUESS_CHARS_MAX = 2_000
/**
 * A text with enough English words counts as English if English reaches this share of the best language's similarity.
 * The words are needed, since texts in other European languages reach it, too.
 */
const ENGLISH_LIKENESS_MIN = 0.65
/**
 * Minimum share of words that only English has. Ordinary English has twice as many; other languages have none except in
 * quotations.
 */
const ENGLISH_WORDS_MIN = 0.06
/**
 * Up to this length, this share of the similarity is enough without the words: only Dutch comes near, with 0.87. In
 * longer texts, all European languages look more similar.
 */
const SHORT_CHARS_MAX = 300
const SHORT_LIKENESS_MIN = 0.9
/**
 * Numbers of known words that decide: words that only English has, and words that English does not have. In a very
 * short text one foreign word is enough (`FOREIGN_SHARE`).
 */
const ENGLISH_SURE = 3
const FOREIGN_SURE = 2
const FOREIGN_SHARE = 0.3
/** Scots counts as English: its trigrams are almost the same. */
const ENGLISH = ['eng', 'sco']

const ASSUMED_ENGLISH: LanguageGuess = { language: 'en', assumed: true }

/** Guesses by script, by known words, or else by letter trigrams; never throws. */
export function guessLanguage(text: string): LanguageGuess {
  const seen = text.slice(0, GUESS_CHARS_MAX)
  if (isForeignScript(seen)) return { language: codeOf(francAll(seen)[0]?.[0] ?? 'und'), assumed: false }
  const signs = wordSigns(seen)
  if (isForeign(signs)) return { language: likeliest(signs, seen), assumed: false }
  const ranked = francAll(seen, { minLength: GUESS_CHARS_MIN })
  const [best = 'und'] = ranked[0] ?? []
  const isSure = signs.english >= ENGLISH_SURE && signs.english > signs.foreign
  if (isSure) return { language: 'en', assumed: false }
  if (best === 'und') return ASSUMED_ENGLISH
  if (isEnglish(best, likeness(ranked), seen, signs)) return { language: 'en', assumed: false }
  return signs.english > signs.foreign && seen.length <= SHORT_CHARS_MAX
    ? ASSUMED_ENGLISH
    : { language: codeOf(best), assumed: false }
}

function isForeign({ words, english, foreign }: WordSigns): boolean {
  return foreign > english && (foreign >= FOREIGN_SURE || foreign >= words * FOREIGN_SHARE)
}

/** Of the languages that fit the words about equally, the one that fits the letters best. */
function likeliest({ languages }: WordSigns, text: string): string {
  const likely = francAll(text, { minLength: 1 }).map(([code]) => codeOf(code))
  return likely.find((code) => languages.includes(code)) ?? languages[0] ?? 'und'
}

/** Short or technical English texts often resemble another language slightly more than English. */
function isEnglish(best: string, likeness: number, text: string, { words, english }: WordSigns): boolean {
  if (ENGLISH.includes(best)) return true
  if (text.length <= SHORT_CHARS_MAX && likeness >= SHORT_LIKENESS_MIN) return true
  return likeness >= ENGLISH_LIKENESS_MIN && english >= words * ENGLISH_WORDS_MIN
}

function likeness(ranked: readonly (readonly [string, number])[]): number {
  return Math.max(...ENGLISH.map((code) => ranked.find(([other]) => other === code)?.[1] ?? 0))
}

/** English name of a language. */
export function languageName({ language }: Pick<LanguageGuess, 'language'>): string {
  return language === 'und' ? 'another language' : (NAMES.of(language) ?? language)
}

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' })

/** Whether most letters are not Latin. Then even a single word is certainly not English. */
function isForeignScript(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return latin * 2 < letters
}

/** Converts a three-letter language code to the shortest code. */
function codeOf(iso6393: string): string {
  return Intl.getCanonicalLocales(iso6393)[0] ?? iso6393
}
