import { francAll } from 'franc'
import { type WordSigns, wordSigns } from './word-signs.ts'

/** What language a text is in, as far as its letters tell. */
export interface LanguageGuess {
  /** BCP 47, `und` where it cannot be told. */
  readonly language: string
  /** Whether nothing was there to tell it by, so that the language is only assumed. */
  readonly assumed: boolean
}

/** Shorter texts have too few trigrams to tell anything. */
const GUESS_CHARS_MIN = 40
/** What is looked at: enough to be sure, and little enough to look at for every quote. */
const GUESS_CHARS_MAX = 2_000
/** Part of the best language's likeness that English needs beside English words: other European languages reach it too. */
const ENGLISH_LIKENESS_MIN = 0.65
/** Part of a text's words that only English has: ordinary English has twice as many, and other languages none but in citations. */
const ENGLISH_WORDS_MIN = 0.06
/** The longer the text, the more alike all languages of Europe get; in short ones Dutch alone comes near to 0.87. */
const SHORT_CHARS_MAX = 300
const SHORT_LIKENESS_MIN = 0.9
/** So many words that only English has tell it, and so many of other languages those; one does where the text has hardly more. */
const ENGLISH_SURE = 3
const FOREIGN_SURE = 2
const FOREIGN_SHARE = 0.3
/** Scots is told from English by words, hardly by letters. */
const ENGLISH = ['eng', 'sco']

const ASSUMED_ENGLISH: LanguageGuess = { language: 'en', assumed: true }

/** Guesses the language of a text by its first characters: by the words that it has, and where they tell nothing by its letters. Total. */
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

/** Whether more words are of other languages than of English, and not just one of many. */
function isForeign({ words, english, foreign }: WordSigns): boolean {
  return foreign > english && (foreign >= FOREIGN_SURE || foreign >= words * FOREIGN_SHARE)
}

/** Of the languages that words fit about as well as any, the one that the letters fit best. */
function likeliest({ languages }: WordSigns, text: string): string {
  const likely = francAll(text, { minLength: 1 }).map(([code]) => codeOf(code))
  return likely.find((code) => languages.includes(code)) ?? languages[0] ?? 'und'
}

/** Short texts, and technical ones, often look a little more like another language than the one that they are in. */
function isEnglish(best: string, likeness: number, text: string, { words, english }: WordSigns): boolean {
  if (ENGLISH.includes(best)) return true
  if (text.length <= SHORT_CHARS_MAX && likeness >= SHORT_LIKENESS_MIN) return true
  return likeness >= ENGLISH_LIKENESS_MIN && english >= words * ENGLISH_WORDS_MIN
}

function likeness(ranked: readonly (readonly [string, number])[]): number {
  return Math.max(...ENGLISH.map((code) => ranked.find(([other]) => other === code)?.[1] ?? 0))
}

/** English name of a language for people. */
export function languageName({ language }: Pick<LanguageGuess, 'language'>): string {
  return language === 'und' ? 'another language' : (NAMES.of(language) ?? language)
}

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' })

/** Whether most letters are of another script than Latin: that tells even of a single word that it is not English. */
function isForeignScript(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return latin * 2 < letters
}

/** The shortest code of a language that has one of three letters. */
function codeOf(iso6393: string): string {
  return Intl.getCanonicalLocales(iso6393)[0] ?? iso6393
}
