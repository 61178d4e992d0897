import { francAll } from 'franc'

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
/** Scots is told from English by words, hardly by letters. */
const ENGLISH = ['eng', 'sco']

const ASSUMED_ENGLISH: LanguageGuess = { language: 'en', assumed: true }

/** Guesses the language of a text by its first characters. Never throws; well below a millisecond. */
export function guessLanguage(text: string): LanguageGuess {
  const seen = text.slice(0, GUESS_CHARS_MAX)
  if (isForeignScript(seen)) return { language: codeOf(francAll(seen)[0]?.[0] ?? 'und'), assumed: false }
  const ranked = francAll(seen, { minLength: GUESS_CHARS_MIN })
  const [best = 'und'] = ranked[0] ?? []
  if (best === 'und') return ASSUMED_ENGLISH
  return { language: isEnglish(best, likeness(ranked), seen) ? 'en' : codeOf(best), assumed: false }
}

/** Common words of English that are no words of its neighbours. */
const ENGLISH_WORDS = new Set(
  `the and that this these those with without it its not are you your they their them from which what when who we our us my there
  but would could should been has does did than then into about after because only other each every any nobody it's don't`.split(
    /\s+/,
  ),
)

function hasEnglishWords(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}'\u2019]+/gu) ?? []
  return words.filter((word) => ENGLISH_WORDS.has(word)).length >= words.length * ENGLISH_WORDS_MIN
}

/** Short texts, and technical ones, often look a little more like another language than the one that they are in. */
function isEnglish(best: string, likeness: number, text: string): boolean {
  if (ENGLISH.includes(best)) return true
  if (text.length <= SHORT_CHARS_MAX && likeness >= SHORT_LIKENESS_MIN) return true
  return likeness >= ENGLISH_LIKENESS_MIN && hasEnglishWords(text)
}

function likeness(ranked: readonly (readonly [string, number])[]): number {
  return Math.max(...ENGLISH.map((code) => ranked.find(([other]) => other === code)?.[1] ?? 0))
}

/** English name of a language for people. */
export function languageName({ language }: LanguageGuess): string {
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
