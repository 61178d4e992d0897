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
/**
 * Part of the best language's likeness that English needs. English texts of one sentence often look a little more like Scots,
 * and reach 0.8; sentences of other European languages stay below 0.7.
 */
const ENGLISH_LIKENESS_MIN = 0.75
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
  const likeness = Math.max(...ENGLISH.map((code) => ranked.find(([other]) => other === code)?.[1] ?? 0))
  return { language: likeness >= ENGLISH_LIKENESS_MIN ? 'en' : codeOf(best), assumed: false }
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
