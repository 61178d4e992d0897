/** A word as written and as looked up, and whether a clause ends after it. */
export interface Token {
  readonly written: string
  readonly word: string
  readonly endsClause: boolean
}

const NEGATIONS =
  setOf(`aint arent cannot cant couldnt darent didnt doesnt dont hadnt hasnt havent isnt mightnt mustnt neednt
  neither never no nobody none nope nor not nothing nowhere oughtnt rarely seldom shant shouldnt wasnt werent without wont wouldnt`)
/** "I don't think that": the negation covers the whole opinion. */
const OPINIONS =
  setOf(`think believe say claim call find feel imagine suppose consider expect recommend guess agree see describe
  thought believed said called found felt imagined`)
/** "No reason to", "no way that": the negation covers the whole clause. */
const NO_GROUNDS = setOf('way reason chance point grounds means sense')
/** Words allowed between a negation and an opinion. */
const FILLERS = setOf('really honestly ever even i we you one can could would personally actually')
/** "Hardly anyone", "barely any". */
const HARDLY = setOf('hardly barely scarcely')
const ANY = setOf('any anyone anybody anything ever')
/** Words at which the scope of a negation ends. */
const CLAUSE_STARTS = setOf('but because although though however whereas unless yet')
const NEW_SUBJECTS = setOf('i we he she they it you the this that my our')
/** "Had hoped for": it did not happen. */
const HOPED = setOf('expected hoped wanted wished')
const PASSIVE = setOf('is are was were be been as than being')
/** "Couldn't be happier", "never slept better", "can't praise it enough": a negation that praises. */
const HIGHEST = setOf('better happier easier nicer more prouder')
const LIMITS = setOf('cant cannot couldnt couldn never not dont')
/** "Not only", "no doubt": these words cancel a negation before them. */
const AFFIRMED = setOf('only just merely doubt')

/** Whether a word is a negation. */
export function isNegation(word: string): boolean {
  return NEGATIONS.has(word)
}

/**
 * A word is negated by a negation among the three words before it, or by one that covers its clause. Two negations
 * cancel out. Linear in the number of words.
 */
export function deniedWords(tokens: readonly Token[]): readonly boolean[] {
  const scopes = clauseScopes(tokens)
  const ends = clauseEnds(tokens)
  return tokens.map((_, at) => {
    const near = nearNegation(tokens, at)
    const far = scopes[at] as number
    if (near >= 0 && isPraise(tokens, near, at, ends[at] as number)) return false
    if (far >= 0 && isPraise(tokens, far, at, ends[at] as number)) return false
    return near >= 0 && far >= 0 ? near === far : near >= 0 || far >= 0
  })
}

/** For each word, the index of the negation that covers its clause, or -1. */
function clauseScopes(tokens: readonly Token[]): readonly number[] {
  const scopes: number[] = []
  let scope = -1
  for (const [at, { word, endsClause }] of tokens.entries()) {
    if (startsClause(tokens, at)) scope = -1
    scopes.push(scope)
    if (scope < 0 && deniesClause(tokens, at)) scope = at
    if (endsClause) scope = -1
    if (word === 'but' && tokens[at - 1]?.word === 'anything') scope = at
  }
  return scopes
}

function clauseEnds(tokens: readonly Token[]): readonly number[] {
  const ends = new Array<number>(tokens.length)
  let end = tokens.length - 1
  for (let at = tokens.length - 1; at >= 0; at--) {
    if (tokens[at]?.endsClause) end = at
    ends[at] = end
  }
  return ends
}

function startsClause(tokens: readonly Token[], at: number): boolean {
  const word = wordAt(tokens, at)
  if (word === 'and') return NEW_SUBJECTS.has(wordAt(tokens, at + 1)) || wordAt(tokens, at + 1) === 'got'
  return CLAUSE_STARTS.has(word) && wordAt(tokens, at - 1) !== 'anything'
}

function deniesClause(tokens: readonly Token[], at: number): boolean {
  const [word, next, before] = [wordAt(tokens, at), wordAt(tokens, at + 1), wordAt(tokens, at - 1)]
  if (word === 'nobody') return true
  if (word === 'none' || word === 'neither') return next === 'of'
  if (word === 'no') return NO_GROUNDS.has(next) || next === 'one'
  if (HARDLY.has(word)) return ANY.has(next)
  if (word === 'few') return before !== 'a' && before !== 'quite' && (at === 0 || next === 'of')
  if (word === 'far') return next === 'from'
  if (HOPED.has(word)) return !PASSIVE.has(before) && !tokens[at]?.endsClause
  if (word === 'have') return /^(?:would|should|could)$/.test(before) && next !== 'to'
  if (/^fail(?:s|ed)?$/.test(word)) return next === 'to'
  return NEGATIONS.has(word) && opinionFollows(tokens, at)
}

function opinionFollows(tokens: readonly Token[], at: number): boolean {
  for (let i = at + 1; i < Math.min(tokens.length, at + 4); i++) {
    if (OPINIONS.has(wordAt(tokens, i))) return true
    if (!FILLERS.has(wordAt(tokens, i))) return false
  }
  return false
}

/** Index of a negation among the three words before, or -1. "Never so good" and "not only good" do not negate. */
function nearNegation(tokens: readonly Token[], at: number): number {
  if (wordAt(tokens, at - 1) === 'least') return /^(?:at|very)$/.test(wordAt(tokens, at - 2)) ? -1 : at - 1
  for (let place = at - 1; place >= Math.max(0, at - 3); place--) {
    const [word, next] = [wordAt(tokens, place), wordAt(tokens, place + 1)]
    if (!NEGATIONS.has(word)) continue
    const affirms = (word === 'never' && (next === 'so' || next === 'this')) || AFFIRMED.has(next)
    if (!affirms) return place
  }
  return -1
}

/** "Couldn't be happier", "can't praise it enough". */
function isPraise(tokens: readonly Token[], negation: number, at: number, end: number): boolean {
  if (!LIMITS.has(wordAt(tokens, negation))) return false
  const words = tokens
    .slice(Math.max(negation + 1, at - PRAISE_WORDS), Math.min(end, at + PRAISE_WORDS) + 1)
    .map(({ word }) => word)
  if (/^(?:cant|cannot|couldnt)$/.test(wordAt(tokens, negation)) && words.includes('enough')) return true
  const isMost = HIGHEST.has(wordAt(tokens, at)) || HIGHEST.has(wordAt(tokens, at - 1))
  return isMost && (/^(?:couldnt|never)$/.test(wordAt(tokens, negation)) || words.some((word) => MOST_SIGNS.has(word)))
}

const PRAISE_WORDS = 8
/**
 * "I don't think I have ever slept better", "you can't find a better one": these words turn a negated comparative into
 * praise.
 */
const MOST_SIGNS = setOf('ever find be')

function wordAt(tokens: readonly Token[], at: number): string {
  return tokens[at]?.word ?? ''
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
