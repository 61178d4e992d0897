/** A text is cut after this many characters, and after this many terms. No real question is longer. */
const CHARS_MAX = 20_000
const TERMS_MAX = 4_000
/** BM25 parameters: saturation of repeated words, and influence of the text length (Robertson and Zaragoza, 2009). */
const K1 = 1.2
const B = 0.75

/** Weight of a word that no text has, relative to a word in a single text. It may be a synonym of a known word. */
const FOREIGN_SHARE = 0.65

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a able about accept all also am an and any are as at be been but by can come could did do does doing for from get give had ' +
    'happen happens has have having how i if in into is it its just know let like look many may me mean means might much must my ' +
    'need needs no not of on one or our out please possible put say shall should show so some support supported supports t take tell ' +
    'than that the their them then there these they this those to try up us use used using very want was we were what when ' +
    'where whether which who whom whose why will wish with would yes you your'
  ).split(' '),
)

/** Scripts without spaces between words. Their texts are compared by pairs of adjacent letters. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/v
/** A name with a one-digit number counts as one word: `model-2`, `model 2`. */
const NUMBERED = /(\p{L})[- ](\p{N})(?!\p{N})/gu
const WORDS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]+|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]]+/gv
/** Most texts are ASCII. `ASCII_WORDS` splits them several times faster than `WORDS` does. */
const ASCII = /^[\p{ASCII}]*$/u
const ASCII_WORDS = /[a-z0-9]+/g

/** "Which one should I use" has only stop words. So such a question is rewritten as "choose model". */
const CHOICE =
  /\b(?:which|what) (?:model|one)s? (?:should|shall|do|can|would|could) (?:i|we|you|one) (?:use|take|want|need)\b/g

/** A word of a question is covered in full if the weights of all its occurrences add up to 1 or more. */
export type FindableParts = readonly (readonly [weight: number, text: string])[]

/** A thing with a text that matches a question. */
export interface Hit<T> {
  readonly found: T
  readonly score: number
  /** Share of the question's weight, from 0 to 1. Words that no text has count by {@link FOREIGN_SHARE}. */
  readonly coverage: number
}

/** Words without English endings, or pairs of letters in scripts without spaces. Stop words are left out. */
export function termsOf(text: string): readonly string[] {
  const plain = text
    .slice(0, CHARS_MAX)
    .normalize('NFKC')
    .toLowerCase()
    .replace(NUMBERED, '$1$2')
    .replace(CHOICE, 'choose model')
  const terms = ASCII.test(plain)
    ? (plain.match(ASCII_WORDS) ?? []).flatMap(termOf)
    : (plain.match(WORDS) ?? []).flatMap((word) => (UNSPACED.test(word) ? pairs(word) : termOf(word)))
  return terms.filter((term) => !STOP_WORDS.has(term)).slice(0, TERMS_MAX)
}

interface Indexed<T> {
  readonly found: T
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
}

/** Finds texts by the words of a question (BM25). For small sets only: each question scans all texts. */
export class TextIndex<T> {
  readonly #texts: readonly Indexed<T>[]
  readonly #spread = new Map<string, number>()
  readonly #meanLength: number

  constructor(texts: readonly T[], partsOf: (found: T) => FindableParts) {
    this.#texts = texts.map((found) => ({ found, ...countsOf(partsOf(found)) }))
    for (const { counts } of this.#texts)
      for (const term of counts.keys()) this.#spread.set(term, (this.#spread.get(term) ?? 0) + 1)
    this.#meanLength = this.#texts.reduce((sum, { length }) => sum + length, 0) / Math.max(1, texts.length)
  }

  /** Texts that share a term with the question, best first. Texts with equal scores keep their order. */
  find(question: string, max = this.#texts.length): readonly Hit<T>[] {
    const terms = [...new Set(termsOf(question))]
    const whole = terms.reduce((sum, term) => sum + this.#weight(term), 0)
    return this.#texts
      .map((text) => this.#hit(text, terms, whole))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, max)
  }

  #hit({ found, counts, length }: Indexed<T>, terms: readonly string[], whole: number): Hit<T> {
    let score = 0
    let covered = 0
    for (const term of terms) {
      const count = counts.get(term) ?? 0
      if (count === 0) continue
      const weight = this.#weight(term)
      covered += weight * Math.min(1, count)
      score += (weight * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / this.#meanLength))
    }
    return { found, score, coverage: whole === 0 ? 0 : covered / whole }
  }

  #weight(term: string): number {
    const having = this.#spread.get(term)
    if (having === undefined) return FOREIGN_SHARE * this.#rarity(1)
    return this.#rarity(having)
  }

  #rarity(having: number): number {
    return Math.log(1 + (this.#texts.length - having + 0.5) / (having + 0.5))
  }
}

function countsOf(parts: FindableParts): Pick<Indexed<unknown>, 'counts' | 'length'> {
  const counts = new Map<string, number>()
  let length = 0
  for (const [weight, text] of parts) {
    const terms = termsOf(text)
    length += weight * terms.length
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + weight)
  }
  return { counts, length }
}

function termOf(word: string): readonly string[] {
  return word.length > 1 && !STOP_WORDS.has(word) ? [stem(word)] : []
}

function pairs(word: string): readonly string[] {
  const letters = [...word]
  return letters.length < 2 ? letters : letters.slice(1).map((letter, i) => `${letters[i]}${letter}`)
}

/** Removes English endings only: "keys" becomes "key"; "streamed" and "streaming" become "stream". */
function stem(word: string): string {
  if (word.length > 5 && word.endsWith('ing')) return word.slice(0, -3)
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (word.length > 4 && word.endsWith('ed')) return word.slice(0, -2)
  if (word.length > 3 && word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1)
  return word
}
