import { COMMON_WORDS, TELLING_LETTERS } from './common-words.ts'

/** What the words and letters of a text say about its language. */
export interface WordSigns {
  readonly words: number
  /**
   * `english`: number of words that among the known languages only English has. `foreign`: weighted number of words and
   * marks that English does not have.
   */
  readonly english: number
  readonly foreign: number
  /** Other languages that fit about equally, best first. */
  readonly languages: readonly string[]
}

const WORD = /[\p{L}\p{M}][\p{L}\p{M}'\u2019-]*/gu
/** "L'h\u00f4tel", "dell'anno": the part before the apostrophe is a word. */
const ELIDED = /^((?:c|d|j|l|m|n|s|t|qu|un|all|dall|dell|nell|sull)')(.+)$/
/** Foreign articles that also begin names of places and newspapers in English. */
const NAME_ARTICLES: ReadonlySet<string> = new Set(
  'el la las los le les il lo gli de del der das den di da do dos van von'.split(' '),
)
/**
 * Weight of one of {@link NAME_ARTICLES}, or of an unknown word with a telling letter: in English they occur in names
 * and dishes.
 */
const WEAK = 0.4
/** Languages with less than this share of the best score are dropped; related languages share words. */
const NEAR_BEST = 0.8

const LANGUAGES_OF: ReadonlyMap<string, readonly string[]> = languagesByWord()

function languagesByWord(): ReadonlyMap<string, readonly string[]> {
  const map = new Map<string, string[]>()
  for (const [language, words] of Object.entries(COMMON_WORDS)) {
    for (const word of words) map.set(word, [...(map.get(word) ?? []), language])
  }
  return map
}

/** Never throws; linear in the length of the text. */
export function wordSigns(text: string): WordSigns {
  const written = (text.match(WORD) ?? []).flatMap(parts)
  const scores = new Map<string, number>()
  let [english, foreign] = [0, 0]
  for (const [i, word] of written.entries()) {
    const lower = word.toLowerCase()
    if (NAME_ARTICLES.has(lower) && isCapital(word) && isCapital(written[i + 1] ?? '')) continue
    const known = LANGUAGES_OF.get(lower)
    const languages = known ?? lettersOf(lower)
    const weight = known === undefined || NAME_ARTICLES.has(lower) ? WEAK : 1
    if (languages.includes('en')) english += languages.length === 1 ? 1 : 0
    else if (languages.length > 0) foreign += weight
    for (const one of languages) scores.set(one, (scores.get(one) ?? 0) + weight / languages.length)
  }
  if (/[\u00bf\u00a1]/.test(text)) {
    foreign += 1
    scores.set('es', (scores.get('es') ?? 0) + 1)
  }
  return { words: written.length, english, foreign, languages: bestOf(scores) }
}

/** An elided word such as "l'" and the word after it; any other word alone. */
function parts(word: string): readonly string[] {
  const plain = word.replaceAll('\u2019', "'")
  const elided = ELIDED.exec(plain.toLowerCase())
  return elided === null ? [plain] : [plain.slice(0, elided[1]?.length), plain.slice(elided[1]?.length)]
}

function lettersOf(lower: string): readonly string[] {
  return [...new Set(TELLING_LETTERS.filter(([letters]) => letters.test(lower)).flatMap(([, languages]) => languages))]
}

function bestOf(scores: ReadonlyMap<string, number>): readonly string[] {
  const ranked = [...scores].filter(([language]) => language !== 'en').sort(([, a], [, b]) => b - a)
  const best = ranked[0]?.[1] ?? 0
  return ranked.filter(([, score]) => score >= best * NEAR_BEST).map(([language]) => language)
}

function isCapital(word: string): boolean {
  return /^\p{Lu}/u.test(word)
}
