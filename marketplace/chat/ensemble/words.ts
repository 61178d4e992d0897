import {
  CODE,
  CREATIVE,
  CURRENT,
  FACTUAL,
  GREETING,
  KNOWLEDGE,
  MATH,
  OTHERWISE,
  PROBLEM,
  QUANTITIES,
  REASONING,
  RECKONING,
  TECHNICAL,
  type WordTable,
} from './word-tables.ts'

/** A kind of word that a question can mention. */
export type Mention = keyof typeof TABLES

const TABLES = {
  code: CODE,
  technical: TECHNICAL,
  math: MATH,
  reckoning: RECKONING,
  quantity: QUANTITIES,
  reasoning: REASONING,
  problem: PROBLEM,
  creative: CREATIVE,
  knowledge: KNOWLEDGE,
  current: CURRENT,
  factual: FACTUAL,
} as const

const WORDS = /[\p{L}\p{N}\p{M}_]+(?:['’.+#-]+[\p{L}\p{N}\p{M}]*)*/gu
/** Signs that stand within words, but do not end them. */
const INNER_SIGNS = "'’.-"
/** As in "CSV-Datei". */
const HYPHEN = /(?<=\p{L})-(?=\p{L})/gu
const UNSPACED_SIGNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Keys have single spaces between their words. */
const PHRASES: ReadonlyMap<string, readonly Mention[]> = phrasesOf(Object.entries(TABLES) as [Mention, WordTable][])
const OTHERS: ReadonlySet<string> = new Set(Object.values(OTHERWISE.spaced).flatMap(keysIn))

function wordsIn(list: string): readonly string[] {
  return list.split(',').map((word) => word.trim())
}

function keysIn(list: string): readonly string[] {
  return wordsIn(list).map((phrase) => wordsOf(phrase).join(' '))
}

/** `text` is in lower case. */
export function wordsOf(text: string): readonly string[] {
  return (text.replace(HYPHEN, ' ').match(WORDS) ?? []).map(withoutEnd)
}

/** A loop: a regular expression would take quadratic time. */
function withoutEnd(word: string): string {
  let end = word.length
  while (end > 0 && INNER_SIGNS.includes(word.charAt(end - 1))) end -= 1
  return word.slice(0, end)
}

function phrasesOf(tables: readonly (readonly [Mention, WordTable])[]): ReadonlyMap<string, readonly Mention[]> {
  const phrases = new Map<string, readonly Mention[]>()
  for (const [mention, { spaced }] of tables)
    for (const key of Object.values(spaced).flatMap(keysIn)) phrases.set(key, [...(phrases.get(key) ?? []), mention])
  return phrases
}

/** Includes the whole phrases. */
const BEGINNINGS: ReadonlySet<string> = new Set([...PHRASES.keys(), ...OTHERS].flatMap(beginningsOf))

function beginningsOf(phrase: string): readonly string[] {
  const words = phrase.split(' ')
  return words.map((_, i) => words.slice(0, i + 1).join(' '))
}

/** The kinds of words and phrases in a text. */
export interface Mentions {
  readonly kinds: ReadonlySet<Mention>
  readonly phrases: Readonly<Record<Mention, ReadonlySet<string>>>
}

/** `text` is in lower case. Words of {@link OTHERWISE} are left out. Several phrases may begin at one word. */
export function mentionsIn(text: string): Mentions {
  const phrases = Object.fromEntries(Object.keys(TABLES).map((kind) => [kind, new Set<string>()])) as unknown as Record<
    Mention,
    Set<string>
  >
  const words = wordsOf(text)
  for (let i = 0; i < words.length; i += 1) {
    const { known, others } = phrasesAt(words, i)
    for (const phrase of known) for (const mention of PHRASES.get(phrase) ?? []) phrases[mention].add(phrase)
    // The words of a phrase with another meaning are skipped.
    if (others > 0) i += others - 1
  }
  if (UNSPACED_SIGNS.test(text))
    for (const [mention, signs] of UNSPACED) for (const one of signs) if (text.includes(one)) phrases[mention].add(one)
  const kinds = (Object.keys(phrases) as Mention[]).filter((kind) => phrases[kind].size > 0)
  return { kinds: new Set(kinds), phrases }
}

/** `others` is the number of words of a phrase with another meaning, 0 if there is none. */
function phrasesAt(
  words: readonly string[],
  at: number,
): { readonly known: readonly string[]; readonly others: number } {
  let known: string[] = []
  let others = 0
  let phrase = words[at] as string
  for (let count = 1; BEGINNINGS.has(phrase); count += 1) {
    if (OTHERS.has(phrase)) [known, others] = [[], count]
    if (PHRASES.has(phrase)) known.push(phrase)
    const next = words[at + count]
    if (next === undefined) break
    phrase += ` ${next}`
  }
  return { known, others }
}

/** The kinds of words that a lower-case text mentions. */
export function mentionsOf(text: string): ReadonlySet<Mention> {
  return mentionsIn(text).kinds
}

const UNSPACED = (Object.entries(TABLES) as [Mention, WordTable][])
  .filter(([, { unspaced }]) => unspaced !== undefined)
  .map(([mention, { unspaced = '' }]) => [mention, wordsIn(unspaced)] as const)

const GREETINGS: ReadonlySet<string> = new Set([
  ...Object.values(GREETING.spaced).flatMap(wordsIn),
  ...wordsIn(GREETING.unspaced ?? ''),
])
const ADDRESSED: ReadonlySet<string> = new Set(
  (
    'there, all, everyone, everybody, friend, friends, again, bot, assistant, buddy, mate, sir, zusammen, leute, tout le monde, a todos, a tutti, всем, 大家, ' +
    'a lot, so much, very much, a bunch, for your help, for the help, for your time, for everything, for that, for now, tomorrow, later, soon, then, ' +
    'sehr, schön, vielmals, beaucoup, mucho, mil, mille, tanto, большое, огромное'
  ).split(', '),
)
const GREETING_CHARS_MAX = 60
const GREETING_PARTS_MAX = 3

/** Whether a lower-case text consists only of greetings, thanks or a farewell. */
export function isGreeting(text: string): boolean {
  if (text.length > GREETING_CHARS_MAX) return false
  const parts = text
    .replace(/['’]/gu, '')
    .split(/[.,!?;:…。！？、，¡¿\n]+/u)
    .map((part) =>
      part
        .replace(/[^\p{L}\p{N}\p{M} ]/gu, '')
        .replace(/ +/gu, ' ')
        .trim(),
    )
    .filter((part) => part !== '')
  return parts.length > 0 && parts.length <= GREETING_PARTS_MAX && parts.every(greets)
}

function greets(part: string): boolean {
  if (GREETINGS.has(part)) return true
  const words = part.split(' ')
  // "hello there", "hey friend", "hi hello".
  return words.some((_, i) => {
    const rest = words.slice(i + 1).join(' ')
    return GREETINGS.has(words.slice(0, i + 1).join(' ')) && (ADDRESSED.has(rest) || GREETINGS.has(rest))
  })
}
