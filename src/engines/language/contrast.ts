import type { Token } from './negation.ts'

/** What stands before the turn of a sentence counts half, what comes after it half as much again (VADER). */
const LESS = 0.5
const MORE = 1.5
/** What was once, and is no more. */
const GONE = 0.25
/** Words after which a sentence says what it is about. */
const TURNS = setOf('but however yet')
/** Words that admit something: the rest of the sentence is what it is about. */
const CONCESSIONS = setOf('although though while whilst despite')
/** Words that a sentence turns with against the one before it. */
const OPENING_TURN =
  /^[^\p{L}]*(?:but|however|yet|unfortunately|sadly|still,|nevertheless|nonetheless|that said|on the other hand)(?!\p{L})/iu

/** How much each word of a sentence counts by where it stands. */
export function turnWeights(tokens: readonly Token[]): readonly number[] {
  const turn = tokens.findIndex((_, at) => at > 0 && isTurn(tokens, at))
  if (turn >= 0) return tokens.map((_, at) => (at < turn ? LESS : MORE))
  const admitted = tokens.findIndex(({ word }) => CONCESSIONS.has(word))
  if (admitted > 1) return tokens.map((_, at) => (at < admitted ? 1 : LESS))
  const comma = tokens.findIndex(({ endsClause }, at) => endsClause && at >= admitted)
  if (admitted >= 0 && comma < tokens.length - 1) return tokens.map((_, at) => (at <= comma ? LESS : MORE))
  return pastWeights(tokens)
}

/** Whether a sentence takes back what the one before it said. */
export function turnsAgainst(sentence: string): boolean {
  return OPENING_TURN.test(sentence)
}

/** "Not only cheap but also good" takes nothing back, and "anything but" is a negation. */
function isTurn(tokens: readonly Token[], at: number): boolean {
  const { word } = tokens[at] as Token
  if (!TURNS.has(word) || tokens[at - 1]?.word === 'anything') return false
  if (word === 'yet' && tokens[at]?.endsClause) return false
  const not = tokens.findIndex(({ word }) => word === 'not')
  return not < 0 || not > at || !/^(?:only|just|merely)$/.test(tokens[not + 1]?.word ?? '')
}

/** "It used to be good; now it is bad": the clause of what was once. */
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
