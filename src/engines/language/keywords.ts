import type { Subjects } from '../../../marketplace/ports/language-tasks.ts'
import { type NounPhrase, nounPhrases } from './noun-phrases.ts'
import type { TaggedWord } from './tagged-words.ts'

const KEYWORDS_MAX = 15
const KEYWORD_CHARS = { min: 3, max: 80 }
const TOPICS_MAX = 5
const TOPIC_MENTIONS_MIN = 2
/** Words of the longest phrase that is counted. */
const COUNTED_WORDS_MAX = 6
const SCORE_DECIMALS = 3
/** Factors of a score. That of a name comes in addition. */
const WEIGHTS = { word: 1, phrase: 1.5, name: 1.4 }
/** The first word of a text counts this much more than the last. */
const FIRST_MORE = 0.5
/** Weight of the words of a phrase at other places in the text. */
const ELSEWHERE = 0.35
/** Nouns that say little about the subject of a text. */
const PALE_NOUNS: ReadonlySet<string> = new Set(
  `amount area aspect attempt bit case change copy couple day degree effect end example fact fifth form front group half hand height
hour idea instance issue item job kind life list look lot matter member minute moment month name number one part people percent
person piece place point problem process quarter question range rate reason rest result second sense set side sort start step stuff
term thing third time today top total turn type unit use value way week while word year dozen hundred thousand million nothing
others night morning evening afternoon someone everyone anyone everything husband wife man woman men women eye day-to-day`.split(
    /\s+/,
  ),
)

interface Candidate {
  readonly text: string
  readonly key: string
  readonly stems: readonly string[]
  readonly isName: boolean
  /** A single word in -ing becomes a keyword only if it occurs again or is the only candidate. */
  readonly isDoing: boolean
  readonly at: number
  /** All occurrences, and those outside longer phrases. */
  count: number
  own: number
}

/** Best first. Singular and plural count together. */
export function keyPhrases(words: readonly TaggedWord[]): Pick<Subjects, 'keywords' | 'topics'> {
  const stems = words.map(({ lower }) => stem(lower))
  const phrases = nounPhrases(words)
  const candidates = candidatesOf(phrases.length > 0 ? phrases : wordsAlone(words), stems)
  const counts = count(words, stems, candidates)
  const scored = [...candidates.values()]
    .filter(({ text, isDoing, count }) => isOfKeywordLength(text) && (!isDoing || count > 1 || candidates.size === 1))
    .map((candidate) => ({ candidate, score: scoreOf(candidate, counts, words.length) }))
    .sort((a, b) => b.score - a.score || a.candidate.at - b.candidate.at)
  const chosen = withoutRepeats(scored)
  const best = chosen[0]?.score ?? 1
  const keywords = chosen.map(({ candidate: { text }, score }) => ({
    text,
    score: Math.max(0.001, Number((score / best).toFixed(SCORE_DECIMALS))),
  }))
  return { keywords, topics: topics(scored.map(({ candidate }) => candidate)) }
}

/** Without parts of names, and without parts of longer phrases that are equally frequent. */
function topics(candidates: readonly Candidate[]): readonly string[] {
  const most = candidates
    .filter(({ count }) => count >= TOPIC_MENTIONS_MIN)
    .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
    .slice(0, TOPICS_MAX * 4)
  return most
    .filter((one) => !candidates.some((all) => contains(all, one) && (all.isName || all.count === one.count)))
    .slice(0, TOPICS_MAX)
    .map(({ text }) => text)
}

function isOfKeywordLength(text: string): boolean {
  return text.length >= KEYWORD_CHARS.min && text.length <= KEYWORD_CHARS.max
}

function stem(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/(?<=x|ch|sh|ss)es$|s$/, '')
}

/** A text without nouns, such as a search for "running", is described by its other words. */
function wordsAlone(words: readonly TaggedWord[]): readonly NounPhrase[] {
  return words.flatMap((word, at) => (word.kind === 'other' ? [] : [{ words: [word], isName: false, at }]))
}

function candidatesOf(phrases: readonly NounPhrase[], stems: readonly string[]): ReadonlyMap<string, Candidate> {
  const candidates = new Map<string, Candidate>()
  for (const { words, isName, at } of phrases) {
    const own = stems.slice(at, at + words.length)
    const key = own.join(' ')
    if (candidates.has(key) || (words.length === 1 && !isName && PALE_NOUNS.has(key))) continue
    const text = words.map((word) => (isName ? word.text : word.lower)).join(' ')
    const isDoing = words.length === 1 && words[0]?.kind === 'gerund'
    candidates.set(key, { text, key, stems: own, isName, isDoing, at, count: 0, own: 0 })
  }
  return candidates
}

function count(
  words: readonly TaggedWord[],
  stems: readonly string[],
  candidates: ReadonlyMap<string, Candidate>,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  let covered = 0
  for (let at = 0; at < words.length; at++) {
    counts.set(stems[at] as string, (counts.get(stems[at] as string) ?? 0) + 1)
    let key = ''
    let longest: Candidate | undefined
    let end = at
    for (let length = 1; length <= COUNTED_WORDS_MAX && at + length <= words.length; length++) {
      if (length > 1 && words[at + length - 1]?.isApart) break
      key = length === 1 ? (stems[at] as string) : `${key} ${stems[at + length - 1]}`
      const found = candidates.get(key)
      if (found === undefined) continue
      found.count += 1
      ;[longest, end] = [found, at + length]
    }
    if (longest !== undefined && at >= covered) {
      longest.own += 1
      covered = end
    }
  }
  return counts
}

function scoreOf(
  { stems, isName, at, count, own }: Candidate,
  counts: ReadonlyMap<string, number>,
  total: number,
): number {
  const times = Math.log2(1 + (count + own) / 2)
  const elsewhere = stems.reduce((sum, word) => sum + Math.log2(counts.get(word) ?? 1), 0) / stems.length
  const weight = stems.length > 1 ? WEIGHTS.phrase : WEIGHTS.word
  const place = 1 + FIRST_MORE * (1 - at / Math.max(1, total))
  return (times + ELSEWHERE * elsewhere) * weight * (isName ? WEIGHTS.name : 1) * place
}

interface Scored {
  readonly candidate: Candidate
  readonly score: number
}

/** Drops parts of better phrases that seldom stand alone, and longer forms of better phrases. */
function withoutRepeats(scored: readonly Scored[]): readonly Scored[] {
  const chosen: Scored[] = []
  for (const one of scored) {
    if (chosen.length === KEYWORDS_MAX) break
    if (!chosen.some(({ candidate }) => isRepeat(one.candidate, candidate))) chosen.push(one)
  }
  return chosen.filter(({ candidate }) => !chosen.some((other) => isPartOnly(candidate, other.candidate)))
}

function isRepeat(one: Candidate, chosen: Candidate): boolean {
  return isPartOnly(one, chosen) || (contains(one, chosen) && chosen.stems.length > 1 && one.own <= chosen.own)
}

function isPartOnly(part: Candidate, whole: Candidate): boolean {
  return contains(whole, part) && (whole.isName || part.own < 2 || part.own < whole.own)
}

function contains(whole: Candidate, part: Candidate): boolean {
  return whole !== part && whole.stems.length > part.stems.length && ` ${whole.key} `.includes(` ${part.key} `)
}
