import type { TaggedWord, WordKind } from './tagged-words.ts'

/** Words that name one thing together, in order. */
export interface NounPhrase {
  readonly words: readonly TaggedWord[]
  readonly isName: boolean
  /** Index of the first word in the text. */
  readonly at: number
}

const NAME_WORDS_MAX = 6
const PHRASE_WORDS_MAX = 3
const PALE_ADJECTIVES: ReadonlySet<string> = new Set(
  `able actual additional available bad beautiful big certain clear common complete current dear different difficult direct double
early easy entire exact expensive extra fair false final fine former free full general good great half happy hard heavy high huge
important individual large late long low main major minor modern narrow natural necessary normal old own particular plain poor
possible previous proper quick quiet ready real recent right rough scarce separate serious short significant similar simple single
slow small special specific strong sure tall tiny total true typical unusual usual various weak whole wide worth wrong young`.split(
    /\s+/,
  ),
)

/**
 * Names, and runs of adjectives, nouns and gerunds. None crosses punctuation or a verb. Only names may hold linking
 * words, as in "Bank of England".
 */
export function nounPhrases(words: readonly TaggedWord[]): readonly NounPhrase[] {
  const phrases: NounPhrase[] = []
  for (let at = 0; at < words.length; ) {
    const end = words[at]?.kind === 'name' ? nameEnd(words, at) : runEnd(words, at)
    phrases.push(...phraseOf(words, at, end))
    at = Math.max(end, at + 1)
  }
  return phrases
}

/** End of the name that begins here, with the words that link its parts. */
function nameEnd(words: readonly TaggedWord[], start: number): number {
  let end = start + 1
  for (let at = end; at < words.length && at - start < NAME_WORDS_MAX; at++) {
    const { kind, isApart, lower } = words[at] as TaggedWord
    if (isApart || (kind !== 'name' && kind !== 'link' && lower !== 'the')) break
    if (lower === 'the' && words[at - 1]?.kind !== 'link') break
    if (kind === 'name') end = at + 1
  }
  return end
}

const TITLES: ReadonlySet<string> = new Set(
  'ceo chairman chairwoman chancellor director governor judge mayor minister president professor secretary senator'.split(
    ' ',
  ),
)

/** Start of a name of at least two words after a title: "Finance Minister Paul Henderson". */
function afterTitle(words: readonly TaggedWord[], start: number, end: number): number {
  for (let at = end - 3; at >= start; at--) if (TITLES.has((words[at] as TaggedWord).lower)) return at + 1
  return start
}

const IN_RUNS: ReadonlySet<WordKind> = new Set(['noun', 'adjective', 'gerund'])

function runEnd(words: readonly TaggedWord[], start: number): number {
  let end = start
  while (end < words.length) {
    const { kind, isApart } = words[end] as TaggedWord
    if (!IN_RUNS.has(kind) || (isApart && end > start)) break
    end += 1
  }
  return end
}

/** Empty if the run has only adjectives. */
function phraseOf(words: readonly TaggedWord[], start: number, end: number): readonly NounPhrase[] {
  if (words[start]?.kind === 'name') {
    const at = afterTitle(words, start, end)
    return [{ words: words.slice(at, end), isName: true, at }]
  }
  let [first, last] = [start, end]
  while (last > first && words[last - 1]?.kind === 'adjective') last -= 1
  while (first < last && last - first > PHRASE_WORDS_MAX) first += 1
  while (first < last - 1 && PALE_ADJECTIVES.has((words[first] as TaggedWord).lower)) first += 1
  if (first === last || !words.slice(first, last).some(({ kind }) => kind !== 'adjective')) return []
  return [{ words: words.slice(first, last), isName: false, at: first }]
}
