import type { Summary } from '../../../marketplace/ports/language-tasks.ts'
import { type Parts, usableParts } from '../../../marketplace/services/text/parts.ts'
import { type Sentence, wordsOf } from '../../../marketplace/services/text/sentences.ts'
import { EngineRefusal } from '../refusal.ts'
import { type Clauses, clausesOf } from './clauses.ts'
import { leansBack } from './leaning.ts'
import { formsOf } from './letter-forms.ts'
import { STOP_WORDS } from './stop-words.ts'
import { decides, saidIn, tellingOf } from './turns.ts'

/** Each sentence is compared with all others. */
const SENTENCES_MAX = 500
/** A long text is read up to this many sentences, which are then thinned evenly. */
const SENTENCES_READ_MAX = 5_000
const KEY_POINTS = { min: 3, max: 5 }
const SENTENCES_PER_POINT = 4
/** Sentences more alike than this do not both become key points. Sharing five words of ten gives about 1. */
const ALIKE_MAX = 1.2
/** TextRank (Mihalcea and Tarau, 2004): damping factor, and rounds until the scores converge. */
const DAMPING = 0.85
const ROUNDS = 30
/** Texts usually begin with their subject. */
const FIRST_SENTENCE_WEIGHT = 1.25

/** Most sentences in a chain in which each sentence but the first needs the one before. */
const CHAIN_MAX = 3

const CLAUSE_NUMBER = /^\(?\d{1,3}[.)]\s+(?=\p{L})/u
/** Two capitalised words, of which the second may be a last name. */
const FULL_NAME = /(?<!\S)\p{Lu}[\p{L}\p{M}'\u2019.-]* (?=(\p{Lu}[\p{L}\p{M}-]+))/gu
const CAPITAL_WORD = /^\p{Lu}[\p{L}\p{M}-]+/u

/** Extra weight of dialogue statements with figures, days or decisions. */
const TELLING_WEIGHT = 1.6
/** Further weight of statements that settle something. */
const DECIDING_WEIGHT = 1.4

/** `place` is the index. */
interface Ranked extends Sentence {
  readonly place: number
  readonly score: number
  /**
   * Indexes of the sentences needed to understand this one, its own index last. Null if one of them is missing, or if
   * they are more than {@link CHAIN_MAX}.
   */
  readonly chain: readonly number[] | null
  /** A turn of a dialogue without content, such as a greeting or a question. */
  readonly isIdle: boolean
  /** A turn of a dialogue with figures, days or decisions. */
  readonly isTelling: boolean
}

/**
 * Shortens a text to some of its sentences, dialogue turns, list items or program comments, chosen by TextRank. A
 * sentence that points back ("It", "However") is chosen only together with the one before. It becomes the headline only
 * if no sentence stands alone.
 */
export function summarise({ text }: { readonly text: string }): Summary {
  const found = usableParts(text, SENTENCES_READ_MAX)
  const { kind } = found
  const clauses = kind === 'prose' || kind === 'list' ? clausesOf(text) : null
  const all: readonly Sentence[] = withoutHeadings(thinned(found.parts), clauses)
  const sentences = kind === 'prose' ? withoutForms(text, all) : all
  if (sentences.length < KEY_POINTS.min) throw new EngineRefusal(tooFew(kind))
  const said = found.kind === 'dialogue' ? thinned(found.parts).map(saidIn) : sentences.map((sentence) => sentence.text)
  const tellings = said.map((one) => (kind === 'dialogue' ? tellingOf(one) : 'plain'))
  const alike = likeness(said.map((one) => new Set(wordsOf(one).filter(isTelling).map(stem))))
  const weights = said.map((one, place) =>
    tellings[place] === 'telling' ? TELLING_WEIGHT * (decides(one) ? DECIDING_WEIGHT : 1) : 1,
  )
  const scores = rank(alike).map((score, place) => score * (weights[place] as number))
  // Turns, items and comments stand alone.
  const chains = kind === 'prose' ? chainsOf(text, sentences) : sentences.map((_, place) => [place])
  const ranked = sentences
    .map(
      (sentence, place): Ranked => ({
        ...sentence,
        place,
        score: scores[place] as number,
        chain: chains[place] as Ranked['chain'],
        isIdle: tellings[place] === 'idle',
        isTelling: tellings[place] === 'telling',
      }),
    )
    .sort((a, b) => Number(a.isIdle) - Number(b.isIdle) || b.score - a.score || a.place - b.place)
  const headline = (isMadeOf(clauses, kind) ? firstOf(ranked) : undefined) ?? headlineOf(text, ranked)
  return { tldr: headline.text, keyPoints: keyPoints(ranked, headline, alike) }
}

/** Headings of clauses state nothing. */
function withoutHeadings(all: readonly Sentence[], clauses: Clauses | null): readonly Sentence[] {
  if (clauses === null) return all
  const sentences = all.map(({ start, text }) => {
    const mark = CLAUSE_NUMBER.exec(text)?.[0].length ?? 0
    return { start: start + mark, text: text.slice(mark) }
  })
  const left = sentences.filter(({ start }) => !clauses.headings.has(start))
  return left.length < KEY_POINTS.min ? sentences : left
}

/** Removes greeting, leave and signature of a letter. */
function withoutForms(text: string, all: readonly Sentence[]): readonly Sentence[] {
  const forms = formsOf(text, all)
  const left = all.filter(({ start }) => !forms.has(start))
  return left.length < KEY_POINTS.min ? all : left
}

/** List items are clauses if half have headings. */
function isMadeOf(clauses: Clauses | null, kind: Parts['kind']): boolean {
  return clauses !== null && (kind === 'prose' || clauses.headings.size * 2 >= clauses.count)
}

/** A sentence without a full stop may be a title, so it is taken only if all lack one. */
function firstOf(ranked: readonly Ranked[]): Ranked | undefined {
  const alone = ranked.filter(({ chain }) => chain?.length === 1).sort((a, b) => a.place - b.place)
  return alone.find(({ text }) => /[.!?]["'\u201d\u2019)]?$/.test(text)) ?? alone[0]
}

function tooFew(kind: Parts['kind']): string {
  return kind === 'code'
    ? 'the text is a program with fewer than three sentences in its comments'
    : 'the text has fewer than three usable sentences'
}

/** Sentences that use a last name before the full name was given are avoided. */
function headlineOf(text: string, ranked: readonly Ranked[]): Ranked {
  const fullNames = new Map<string, number>()
  for (const { index, 1: last } of text.matchAll(FULL_NAME)) {
    if (!fullNames.has(last as string)) fullNames.set(last as string, index)
  }
  const isShortName = ({ start, text }: Ranked): boolean =>
    (fullNames.get(CAPITAL_WORD.exec(text)?.[0] ?? '') ?? start) < start
  const alone = ranked.filter(({ chain }) => chain?.length === 1)
  return alone.find((one) => !isShortName(one)) ?? alone[0] ?? (ranked[0] as Ranked)
}

/** A sentence that points back depends on the one right before it. */
function chainsOf(text: string, sentences: readonly Sentence[]): readonly Ranked['chain'][] {
  const chains: Ranked['chain'][] = []
  for (const [place, { start, text: sentence }] of sentences.entries()) {
    if (!leansBack(sentence)) {
      chains.push([place])
      continue
    }
    const before = sentences[place - 1]
    const isNext = before !== undefined && text.slice(before.start + before.text.length, start).trim() === ''
    const chain = isNext ? (chains[place - 1] ?? null) : null
    chains.push(chain === null || chain.length === CHAIN_MAX ? null : [...chain, place])
  }
  return chains
}

/** Spread over the text. */
function thinned<Part extends Sentence>(sentences: readonly Part[]): readonly Part[] {
  if (sentences.length <= SENTENCES_MAX) return sentences
  const step = sentences.length / SENTENCES_MAX
  return Array.from({ length: SENTENCES_MAX }, (_, i) => sentences[Math.floor(i * step)] as Part)
}

function isTelling(word: string): boolean {
  return !STOP_WORDS.has(word)
}

function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word
}

/** The words that two sentences share, normalised by their lengths: one matrix row for each sentence. */
function likeness(sets: readonly ReadonlySet<string>[]): readonly Float64Array[] {
  const rows = sets.map(() => new Float64Array(sets.length))
  for (const [i, row] of rows.entries()) {
    for (let j = i + 1; j < sets.length; j++) {
      const [a, b] = [sets[i] as ReadonlySet<string>, sets[j] as ReadonlySet<string>]
      const value = shared(a, b) / (Math.log(a.size + 1) + Math.log(b.size + 1) || 1)
      row[j] = value
      ;(rows[j] as Float64Array)[i] = value
    }
  }
  return rows
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  let count = 0
  for (const word of few) if (many.has(word)) count += 1
  return count
}

/** Each sentence votes for those that are similar to it, weighted by its own score. */
function rank(alike: readonly Float64Array[]): Float64Array {
  const given = alike.map((row) => row.reduce((sum, value) => sum + value, 0))
  let scores = new Float64Array(alike.length).fill(1)
  for (let round = 0; round < ROUNDS; round++) {
    const before = scores
    // Likeness is symmetric, so the row of a sentence holds the votes of the others.
    scores = Float64Array.from(alike, (row) => 1 - DAMPING + DAMPING * votes(row, before, given))
  }
  scores[0] = (scores[0] as number) * FIRST_SENTENCE_WEIGHT
  return scores
}

function votes(row: Float64Array, scores: Float64Array, given: readonly number[]): number {
  let sum = 0
  for (let j = 0; j < row.length; j++) {
    const value = row[j] as number
    if (value > 0) sum += (value / (given[j] as number)) * (scores[j] as number)
  }
  return sum
}

/**
 * The best sentences with different content, in text order. The headline is included only if there are few. A dialogue
 * first gives its turns with figures, days or decisions.
 */
function keyPoints(ranked: readonly Ranked[], headline: Ranked, alike: readonly Float64Array[]): readonly string[] {
  const told = ranked.filter(({ isIdle }) => !isIdle).length
  const wanted = Math.min(KEY_POINTS.max, Math.max(KEY_POINTS.min, Math.ceil(told / SENTENCES_PER_POINT)))
  const chosen = new Set<number>()
  const choose = (isGood: (one: Ranked, missing: readonly number[]) => boolean, most: number): void => {
    for (const one of ranked) {
      const missing = one.chain?.filter((place) => !chosen.has(place)) ?? []
      if (missing.length === 0 || chosen.size + missing.length > most || !isGood(one, missing)) continue
      for (const place of missing) chosen.add(place)
    }
  }
  const isNew = (place: number): boolean =>
    place !== headline.place &&
    [...chosen].every((other) => ((alike[place] as Float64Array)[other] as number) <= ALIKE_MAX)
  choose(({ isTelling }, missing) => isTelling && missing.every(isNew), KEY_POINTS.max)
  choose(({ isIdle }, missing) => !isIdle && missing.every(isNew), wanted)
  choose((_, missing) => chosen.size < KEY_POINTS.min && missing.length > 0, KEY_POINTS.max)
  // If all sentences point back, take the first ones: each of them has the one before it.
  for (let place = 0; chosen.size < KEY_POINTS.min; place++) chosen.add(place)
  const byPlace = new Map(ranked.map((one) => [one.place, one.text]))
  return [...chosen].sort((a, b) => a - b).map((place) => byPlace.get(place) as string)
}
