import type { Token } from './negation.ts'

/** VADER's factors for words before and after the turn of a sentence. */
const LESS = 0.5
const MORE = 1.5
/** Weight of what was true once. */
const GONE = 0.25
/** Words that turn a sentence to its main point. */
const TURNS = setOf('but however yet')
/** Words that concede something: the main point is the rest of the sentence. */
const CONCESSIONS = setOf('although though while whilst despite')
const OPENING_TURN =
  /^[^\p{L}]*(?:but|however|yet|unfortunately|sadly|still,|nevertheless|nonetheless|that said|on the other hand)(?!\p{L})/iu

/** The weight of each word, by its place in the sentence. */
export function turnWeights(tokens: readonly Token[]): readonly number[] {
  const turn = tokens.findIndex((_, at) => at > 0 && isTurn(tokens, at))
  if (turn >= 0) return tokens.map((_, at) => (at < turn ? LESS : MORE))
  const admitted = tokens.findIndex(({ word }) => CONCESSIONS.has(word))
  if (admitted > 1) return tokens.map((_, at) => (at < admitted ? 1 : LESS))
  const comma = tokens.findIndex(({ endsClause }, at) => endsClause && at >= admitted)
  if (admitted >= 0 && comma < tokens.length - 1) return tokens.map((_, at) => (at <= comma ? LESS : MORE))
  return pastWeights(tokens)
}

/** Whether a sentence contradicts the one before it. */
export function turnsAgainst(sentence: string): boolean {
  return OPENING_TURN.test(sentence)
}

/** "Not only cheap but also good" is no turn, and "anything but" is a negation. */
function isTurn(tokens: readonly Token[], at: number): boolean {
  const { word } = tokens[at] as Token
  if (!TURNS.has(word) || tokens[at - 1]?.word === 'anything') return false
  if (word === 'yet' && tokens[at]?.endsClause) return false
  const not = tokens.findIndex(({ word }) => word === 'not')
  return not < 0 || not > at || !/^(?:only|just|merely)$/.test(tokens[not + 1]?.word ?? '')
}

/** "It used to be good; now it is bad": the first clause describes the past. */
function pastWeights(tokens: readonly Token[]): readonly number[] {
  const end = tokens.findIndex(({ endsClause }) => endsClause)
  const isPast = tokens.slice(0, end + 1).some(({ word }, at) => {
    return word === 'once' || (word === 'used' && tokens[at + 1]?.word === 'to')
  })
  return tokens.map((_, at) => (isPast && at <= end && end < tokens.length - 1 ? GONE : 1))
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
