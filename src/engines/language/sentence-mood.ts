import { turnWeights } from './contrast.ts'
import type { Thanks } from './courtesy.ts'
import { type EmotionSign, emotionsOfPhrase, emotionsOfWord } from './emotion-words.ts'
import { deniedWords, isNegation, type Token } from './negation.ts'
import { plainly } from './phrases.ts'
import { valenceOf } from './valences.ts'

/**
 * Mood by the rules of VADER (C. J. Hutto and E. Gilbert, "VADER: A Parsimonious Rule-based Model for Sentiment
 * Analysis of Social Media Text", ICWSM 2014). Written from the paper, with the constants of its authors' program
 * (https://github.com/cjhutto/vaderSentiment, MIT licence) and valences made for this program.
 */
export interface SentenceMood {
  /** From -1 to 1. */
  readonly polarity: number
  /** Sums of the positive and of the negative valences, both 0 or more. */
  readonly good: number
  readonly bad: number
  /** Number of words, and of words with a valence. */
  readonly words: number
  readonly spoken: number
  /** Emotions of words that are not negated. */
  readonly emotions: readonly EmotionSign[]
}

/** Constants of VADER, measured with human ratings. */
const BOOST = 0.293
const CAPITALS = 0.733
const NEGATION = -0.74
const EXCLAMATION = { each: 0.292, most: 4 }
const QUESTION = { each: 0.18, fewest: 2, most: 0.96, mostFrom: 4 }
const NORMAL = 15
/** A modifier changes each of the next three words, less with distance. */
const BOOST_BY_DISTANCE = [1, 0.95, 0.9]

const BOOSTERS =
  setOf(`absolutely amazingly awfully completely considerably decidedly deeply enormously entirely especially
  exceptionally extremely fabulously flipping frickin fucking fully greatly hella highly hugely incredibly insanely intensely majorly
  more most particularly purely quite really remarkably seriously so substantially super thoroughly too totally tremendously truly
  uber unbelievably unusually utterly very way`)
const DAMPERS =
  setOf(`almost barely fairly hardly kinda kindof less little marginally mildly moderately occasionally partly
  scarcely slightly somewhat sorta sortof`)

/** `thanks` is the role of thanks in the whole text. Linear in the length of the sentence. */
export function sentenceMood(sentence: string, thanks: Thanks): SentenceMood {
  const tokens = tokensOf(sentence, thanks)
  const mixedCase = tokens.some(isCapital) && !tokens.filter(hasLetters).every(isCapital)
  const places = { denied: deniedWords(tokens), weights: turnWeights(tokens) }
  const valences = tokens.map((_, i) => {
    const valence = valenceAt(tokens, i, mixedCase) * (places.weights[i] as number)
    return places.denied[i] || (valence > 0 && isSpoilt(tokens, i)) ? valence * NEGATION : valence
  })
  const sum = valences.reduce((total, valence) => total + valence, 0)
  const emphasis = sum === 0 ? 0 : Math.sign(sum) * emphasisOf(sentence)
  const good = valences.reduce((total, valence) => total + Math.max(0, valence), 0)
  const spoken = valences.filter((valence) => valence !== 0).length
  const emotions = emotionsOf(tokens, mixedCase, places)
  return { polarity: normalised(sum + emphasis), good, bad: good - sum, words: tokens.length, spoken, emotions }
}

interface Places {
  readonly denied: readonly boolean[]
  readonly weights: readonly number[]
}

/** The words of a phrase do not count on their own. */
function emotionsOf(tokens: readonly Token[], mixedCase: boolean, { denied, weights }: Places): readonly EmotionSign[] {
  const words = tokens.map(({ word }) => word)
  const found: EmotionSign[] = []
  for (let at = 0; at < words.length; at++) {
    const phrase = emotionsOfPhrase(words, at)
    const signs = phrase?.signs ?? emotionsOfWord(words[at] as string)
    if (signs.length > 0 && !denied[at]) {
      const weight = loudness(tokens, at, mixedCase) * (weights[at] as number)
      found.push(...signs.map((sign) => ({ emotion: sign.emotion, weight: sign.weight * weight })))
    }
    at += (phrase?.length ?? 1) - 1
  }
  return found
}

function loudness(tokens: readonly Token[], at: number, mixedCase: boolean): number {
  const before = tokens[at - 1]
  const capitals = mixedCase && isCapital(tokens[at] as Token) ? CAPITALS : 0
  return Math.max(0, 1 + capitals + (before === undefined ? 0 : boostOf(before, mixedCase)))
}

const INNER = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su
/** "Kind of" and "sort of" are one word, and not about kindness. */
const KIND_OF = /\b(kind|sort) of\b/gi
/** "Worth" alone is only an amount. */
const WORTH = /\bworth (?:it|every|buying|reading|seeing|visiting|watching|the (?:money|price|wait|trip))\b/gi
const CLAUSE_END = /[,;:.!?)\]]["'\u201d\u2019]*$/

/** Emoticons stay whole. */
function tokensOf(sentence: string, thanks: Thanks): readonly Token[] {
  const spaced = plainly(sentence, thanks)
    .replaceAll('\u{fe0f}', '')
    .replaceAll(KIND_OF, '$1of')
    .replaceAll(WORTH, 'worthwhile')
    .replaceAll(/\p{Extended_Pictographic}/gu, ' $& ')
  const pieces = spaced.split(/[\s\u2014\u2013\u2026]+/u).filter((piece) => piece !== '')
  return pieces.map(tokenOf).filter(({ word }) => word !== '')
}

function tokenOf(piece: string): Token {
  const face = piece.toLowerCase()
  if (valenceOf(face) !== 0) return { written: piece, word: face, endsClause: false }
  const written = INNER.exec(piece)?.[0] ?? ''
  return { written, word: written.toLowerCase().replaceAll(/['\u2019]/gu, ''), endsClause: CLAUSE_END.test(piece) }
}

function hasLetters({ written }: Token): boolean {
  return /\p{L}/u.test(written)
}

/** One letter is not enough for capitals. */
function isCapital({ written }: Token): boolean {
  return /\p{Lu}.*\p{Lu}/u.test(written) && written === written.toUpperCase()
}

function valenceAt(tokens: readonly Token[], at: number, mixedCase: boolean): number {
  const token = tokens[at] as Token
  let valence = isModifier(token.word) ? 0 : valenceOf(token.word)
  if (valence === 0) return 0
  if (mixedCase && isCapital(token)) valence += Math.sign(valence) * CAPITALS
  for (const [distance, weight] of BOOST_BY_DISTANCE.entries()) {
    const before = tokens[at - 1 - distance]
    if (before === undefined) break
    if (valenceOf(before.word) !== 0 && !isModifier(before.word)) continue
    valence += Math.sign(valence) * boostOf(before, mixedCase) * weight
  }
  return valence
}

function isModifier(word: string): boolean {
  return BOOSTERS.has(word) || DAMPERS.has(word) || isNegation(word)
}

function boostOf(token: Token, mixedCase: boolean): number {
  const loud = mixedCase && isCapital(token) ? CAPITALS : 0
  if (BOOSTERS.has(token.word)) return BOOST + loud
  return DAMPERS.has(token.word) ? -BOOST - loud : 0
}

/** Words that destroy the good that they are said of: "it kills any pleasure". */
const SPOILERS = setOf(
  'kill kills killed ruin ruins ruined spoil spoils spoiled spoilt destroy destroys destroyed lack lacks lacked lacking',
)

function isSpoilt(tokens: readonly Token[], at: number): boolean {
  return tokens.slice(Math.max(0, at - 3), at).some(({ word, endsClause }) => SPOILERS.has(word) && !endsClause)
}

function emphasisOf(sentence: string): number {
  const exclamations = Math.min(EXCLAMATION.most, sentence.split('!').length - 1)
  const questions = sentence.split('?').length - 1
  const asked = questions >= QUESTION.mostFrom ? QUESTION.most : questions * QUESTION.each
  return exclamations * EXCLAMATION.each + (questions >= QUESTION.fewest ? asked : 0)
}

function normalised(sum: number): number {
  return sum / Math.sqrt(sum * sum + NORMAL)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
