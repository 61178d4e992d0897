import nlp from 'compromise'
import type { ENTITY_TYPES, Subjects } from '../../../marketplace/outside/language-tasks.ts'
import { STOP_WORDS } from './stop-words.ts'

const KEYWORDS_MAX = 15
const ENTITIES_MAX = 30
const TOPICS_MAX = 5
const PHRASE_WORDS_MAX = 3
const KEYWORD_CHARS = { min: 3, max: 80 }
/** A word is a topic where it comes up again. */
const TOPIC_MENTIONS_MIN = 2
/** Names are looked for at the beginning: what a text is about has been named by then. */
const ENTITY_CHARS_MAX = 20_000
/** The library's work grows faster than what it reads: it reads pieces. */
const ENTITY_PIECE_CHARS = 2_000
const SCORE_DECIMALS = 3

type Entity = Subjects['entities'][number]

/** Words that no stop word and no punctuation parts, in lower case. */
type Phrase = readonly string[]

/** Tells what a text is about: phrases by RAKE, names by a part-of-speech tagger, and the words that come up most. */
export function subjectsOf({ text }: { readonly text: string }): Subjects {
  const phrases = phrasesOf(text)
  return { keywords: keywords(phrases), entities: entities(text), topics: topics(phrases) }
}

/** Runs of telling words, no longer than {@link PHRASE_WORDS_MAX}. */
function phrasesOf(text: string): readonly Phrase[] {
  const phrases: Phrase[] = []
  for (const run of text.toLowerCase().split(/[^\p{L}\p{M}\p{N}\s'\u2019-]+|\n\s*\n/u)) {
    let phrase: string[] = []
    for (const word of [...run.split(/\s+/).map(trimmed), '']) {
      if (isTelling(word)) phrase.push(word)
      else {
        if (phrase.length > 0) phrases.push(phrase)
        phrase = []
      }
    }
  }
  return phrases.flatMap(parts)
}

/** A long run as parts: it is no name for anything. */
function parts(phrase: Phrase): readonly Phrase[] {
  const count = Math.ceil(phrase.length / PHRASE_WORDS_MAX)
  return Array.from({ length: count }, (_, i) => phrase.slice(i * PHRASE_WORDS_MAX, (i + 1) * PHRASE_WORDS_MAX))
}

function trimmed(word: string): string {
  return /[\p{L}\p{N}](?:.*[\p{L}\p{M}\p{N}])?/su.exec(word)?.[0] ?? ''
}

function isTelling(word: string): boolean {
  return word.length > 1 && /\p{L}/u.test(word) && !STOP_WORDS.has(word.split(/['\u2019]/, 1)[0] as string)
}

/** RAKE (Rose and others, 2010): words that stand in long phrases count more, and phrases as much as their words. */
function keywords(phrases: readonly Phrase[]): Subjects['keywords'] {
  const words = new Map<string, { degree: number; count: number }>()
  const counts = new Map<string, { readonly phrase: Phrase; count: number }>()
  for (const phrase of phrases) {
    for (const word of phrase) {
      const known = words.get(word) ?? { degree: 0, count: 0 }
      words.set(word, { degree: known.degree + phrase.length, count: known.count + 1 })
    }
    const text = phrase.join(' ')
    counts.set(text, { phrase, count: (counts.get(text)?.count ?? 0) + 1 })
  }
  const wordScore = (word: string): number => {
    const { degree, count } = words.get(word) ?? { degree: 0, count: 1 }
    return degree / count + Math.log(count)
  }
  const scored = [...counts]
    .filter(([text]) => text.length >= KEYWORD_CHARS.min && text.length <= KEYWORD_CHARS.max)
    .map(([text, { phrase, count }]) => ({ text, score: sum(phrase.map(wordScore)) * (1 + Math.log(count)) }))
    .sort((a, b) => b.score - a.score || (a.text < b.text ? -1 : 1))
    .slice(0, KEYWORDS_MAX)
  const best = scored[0]?.score ?? 1
  return scored.map(({ text, score }) => ({
    text,
    score: Math.max(0.001, Number((score / best).toFixed(SCORE_DECIMALS))),
  }))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** The words that come up most. */
function topics(phrases: readonly Phrase[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const word of phrases.flat()) {
    if (word.length >= KEYWORD_CHARS.min && word.length <= KEYWORD_CHARS.max)
      counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count >= TOPIC_MENTIONS_MIN)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, TOPICS_MAX)
    .map(([word]) => word)
}

/** Names of people, places and organisations, each once and as the text writes it. */
function entities(text: string): readonly Entity[] {
  const found = new Map<string, Entity>()
  const seen = text.slice(0, ENTITY_CHARS_MAX)
  for (let at = 0; at < seen.length && found.size < ENTITIES_MAX; at += ENTITY_PIECE_CHARS) {
    for (const entity of namesIn(seen.slice(at, at + ENTITY_PIECE_CHARS))) {
      const isNew = !found.has(entity.text.toLowerCase()) && found.size < ENTITIES_MAX
      if (isNew && text.includes(entity.text)) found.set(entity.text.toLowerCase(), entity)
    }
  }
  return [...found.values()]
}

function namesIn(piece: string): readonly Entity[] {
  const document = nlp(piece)
  const as = (names: readonly string[], type: (typeof ENTITY_TYPES)[number]): readonly Entity[] =>
    names.map((name) => ({ text: bare(name), type })).filter((entity) => isName(entity.text))
  return [
    ...as(document.people().out('array'), 'person'),
    ...as(document.places().out('array'), 'place'),
    ...as(document.organizations().out('array'), 'organisation'),
  ]
}

/** A name without what surrounds it. */
function bare(name: string): string {
  return /[\p{L}\p{N}](?:.*[\p{L}\p{M}\p{N}])?/su.exec(name)?.[0]?.replace(/['\u2019]s$/, '') ?? ''
}

/** English names begin with a large letter. */
function isName(text: string): boolean {
  return text.length <= KEYWORD_CHARS.max && /^[\p{Lu}\p{N}]/u.test(text) && /\p{Lu}/u.test(text)
}
