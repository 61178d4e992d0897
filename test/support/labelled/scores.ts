import type { Subjects, Summary } from '../../../marketplace/ports/language-tasks.ts'
import type { LabelledLanguage } from './languages.ts'
import type { LabelledMood } from './moods.ts'
import type { LabelledChat, LabelledNames } from './shop.ts'
import type { LabelledSubjects } from './subjects.ts'
import type { LabelledSummary } from './summaries.ts'
import type { LabelledTalk } from './talks.ts'
import type { LabelledUnits } from './units.ts'

/** An engine for moods. One without emotions can be measured too. */
export type MoodEngine = (input: { readonly text: string }) => {
  readonly sentiment: string
  readonly emotions?: readonly { readonly emotion: string }[]
}

export type SubjectsEngine = (input: { readonly text: string }) => {
  readonly keywords: readonly { readonly text: string }[]
}

export type SummaryEngine = (input: { readonly text: string }) => Summary

/** How many of a text's first keywords count for `precision`. */
const LOOKED_AT = 5

/** Share of texts that are rightly called English or not English, and share whose language is right. */
export function languageScore(
  texts: readonly LabelledLanguage[],
  guess: (text: string) => { readonly language: string },
) {
  const found = texts.map(({ text, languages }) => ({ languages, language: guess(text).language }))
  return {
    english: share(found, ({ languages, language }) => languages.includes('en') === (language === 'en')),
    language: share(found, ({ languages, language }) => languages.includes(language)),
  }
}

/** Share of texts with the right first emotion (or rightly none), and share with the right sentiment. */
export function moodScore(texts: readonly LabelledMood[], engine: MoodEngine) {
  const moods = texts.map((labels) => ({ labels, found: engine(labels) }))
  return {
    emotions: share(moods, ({ labels, found }) => {
      const first = found.emotions?.[0]?.emotion
      return first === undefined ? labels.emotions.length === 0 : labels.emotions.includes(first)
    }),
    sentiment: share(moods, ({ labels, found }) => found.sentiment === labels.sentiment),
  }
}

/** Share of texts with the right sentiment. */
export function turnScore(texts: readonly Omit<LabelledMood, 'emotions'>[], engine: MoodEngine) {
  return { sentiment: share(texts, ({ text, sentiment }) => engine({ text }).sentiment === sentiment) }
}

/** Share of the first five keywords that are good, and share of the names that are whole among the keywords. */
export function subjectsScore(texts: readonly LabelledSubjects[], engine: SubjectsEngine) {
  const found = texts.map((labels) => ({ labels, keywords: engine(labels).keywords.map(({ text }) => plain(text)) }))
  return {
    precision: share(
      found.flatMap(({ labels, keywords }) =>
        keywords.slice(0, LOOKED_AT).map((keyword) => ({ keyword, good: labels.keywords.map(plain) })),
      ),
      ({ keyword, good }) => good.includes(keyword),
    ),
    names: share(
      found.flatMap(({ labels, keywords }) => labels.names.map((name) => ({ name: plain(name), keywords }))),
      ({ name, keywords }) => keywords.includes(name),
    ),
  }
}

/** Share of texts with a wrong word among keywords, names and topics. */
export function strayScore(texts: readonly LabelledTalk[], engine: (input: { readonly text: string }) => Subjects) {
  const isStray = ({ text, never }: LabelledTalk): boolean => {
    const { keywords, entities, topics } = engine({ text })
    const all = [...[...keywords, ...entities].map((one) => one.text), ...topics]
    return all.some((one) => never.includes(one.toLowerCase()))
  }
  return { stray: share(texts, isStray) }
}

/** Share of summaries whose sentences can all be understood, and share that say what the text is about. */
export function summaryScore(texts: readonly LabelledSummary[], engine: SummaryEngine) {
  const found = texts.map((labels) => ({ labels, ...placesIn(labels, engine({ text: labels.sentences.join(' ') })) }))
  return {
    safe: share(
      found,
      ({ labels, headline, points }) =>
        labels.needs[headline] === undefined &&
        points.every((point) => labels.needs[point]?.some((other) => points.includes(other)) ?? true),
    ),
    main: share(
      found,
      ({ labels, headline, points }) =>
        labels.main.includes(headline) && points.some((one) => labels.main.includes(one)),
    ),
  }
}

/** Share of summaries whose parts are all whole, and share with a good headline. */
export function unitScore(texts: readonly LabelledUnits[], engine: SummaryEngine) {
  const found = texts.map(({ text, parts, main }) => ({ parts, main, ...engine({ text }) }))
  return {
    whole: share(found, ({ parts, tldr, keyPoints }) => [tldr, ...keyPoints].every((one) => parts.includes(one))),
    main: share(found, ({ parts, main, tldr }) => main.includes(parts.indexOf(tldr))),
  }
}

/** Share of dialogues with a good headline, and share whose key points have no idle turn. */
export function chatScore(chats: readonly LabelledChat[], engine: SummaryEngine) {
  const found = chats.map(({ turns, ...labels }) => {
    const { tldr, keyPoints } = engine({ text: turns.join('\n') })
    return { ...labels, head: turns.indexOf(tldr), points: keyPoints.map((point) => turns.indexOf(point)) }
  })
  return {
    main: share(found, ({ main, head }) => main.includes(head)),
    telling: share(found, ({ idle, points }) => !points.some((point) => idle.includes(point))),
  }
}

/** Share of the wanted turns that are in the summaries. */
export function wantedScore(chats: readonly LabelledChat[], engine: SummaryEngine) {
  const turns = chats.flatMap(({ turns, wanted }) => {
    const { tldr, keyPoints } = engine({ text: turns.join('\n') })
    return (wanted ?? []).map((turn) => [tldr, ...keyPoints].includes(turns[turn] as string))
  })
  return { wanted: share(turns, (isThere) => isThere) }
}

/** Share of names that are found whole, and share of texts with a wrong word among names or keywords. */
export function namesScore(texts: readonly LabelledNames[], engine: (input: { readonly text: string }) => Subjects) {
  const found = texts.map((labels) => {
    const { keywords, entities } = engine(labels)
    const names = entities.map(({ text }) => text)
    return { ...labels, found: names, all: [...names, ...keywords.map(({ text }) => text)] }
  })
  return {
    names: share(
      found.flatMap(({ names, found }) => names.map((name) => ({ name, found }))),
      ({ name, found }) => found.includes(name),
    ),
    stray: share(
      found,
      ({ never, neverNames, found, all }) =>
        all.some((one) => never.includes(one.toLowerCase())) ||
        found.some((name) => (neverNames ?? []).includes(name.toLowerCase())),
    ),
  }
}

function placesIn({ sentences }: LabelledSummary, { tldr, keyPoints }: Summary) {
  return { headline: sentences.indexOf(tldr), points: keyPoints.map((point) => sentences.indexOf(point)) }
}

/** The phrase in lower case, without a plural s. */
function plain(phrase: string): string {
  return phrase.toLowerCase().replace(/(?<=\p{L}{2})s$/u, '')
}

function share<T>(all: readonly T[], isGood: (one: T) => boolean): number {
  return all.length === 0 ? 0 : Number((all.filter(isGood).length / all.length).toFixed(2))
}
