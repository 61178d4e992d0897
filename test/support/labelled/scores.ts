import type { Subjects, Summary } from '../../../marketplace/ports/language-tasks.ts'
import type { LabelledLanguage } from './languages.ts'
import type { LabelledMood } from './moods.ts'
import type { LabelledChat, LabelledNames } from './shop.ts'
import type { LabelledSubjects } from './subjects.ts'
import type { LabelledSummary } from './summaries.ts'
import type { LabelledTalk } from './talks.ts'
import type { LabelledUnits } from './units.ts'

/** What is asked of an engine for moods; one that tells no emotions is measured too. */
export type MoodEngine = (input: { readonly text: string }) => {
  readonly sentiment: string
  readonly emotions?: readonly { readonly emotion: string }[]
}

/** What is asked of an engine for keywords. */
export type SubjectsEngine = (input: { readonly text: string }) => {
  readonly keywords: readonly { readonly text: string }[]
}

/** What is asked of an engine for summaries. */
export type SummaryEngine = (input: { readonly text: string }) => Summary

/** Keywords that a caller looks at. */
const LOOKED_AT = 5

/** Part of the texts that are rightly taken for English or not, and part of those whose language is told. */
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

/** Part of the texts whose first emotion is the right one, or that rightly have none; and with the right sentiment. */
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

/** Part of the texts with the right sentiment. */
export function turnScore(texts: readonly Omit<LabelledMood, 'emotions'>[], engine: MoodEngine) {
  return { sentiment: share(texts, ({ text, sentiment }) => engine({ text }).sentiment === sentiment) }
}

/** Part of the first five keywords that are good ones, and part of the names that are among the keywords, whole. */
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

/** Part of the texts with a word among keywords, names and topics that is none of them. */
export function strayScore(texts: readonly LabelledTalk[], engine: (input: { readonly text: string }) => Subjects) {
  const isStray = ({ text, never }: LabelledTalk): boolean => {
    const { keywords, entities, topics } = engine({ text })
    const all = [...[...keywords, ...entities].map((one) => one.text), ...topics]
    return all.some((one) => never.includes(one.toLowerCase()))
  }
  return { stray: share(texts, isStray) }
}

/** Part of the summaries whose every sentence can be understood, and of those that say what the text is about. */
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

/** Part of the summaries all of whose parts are whole, and of those whose headline is a good one. */
export function unitScore(texts: readonly LabelledUnits[], engine: SummaryEngine) {
  const found = texts.map(({ text, parts, main }) => ({ parts, main, ...engine({ text }) }))
  return {
    whole: share(found, ({ parts, tldr, keyPoints }) => [tldr, ...keyPoints].every((one) => parts.includes(one))),
    main: share(found, ({ parts, main, tldr }) => main.includes(parts.indexOf(tldr))),
  }
}

/** Part of the dialogues with a good headline, and of those whose summary is free of turns that say nothing. */
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

/** Part of the turns that a summary must have which are in it. */
export function wantedScore(chats: readonly LabelledChat[], engine: SummaryEngine) {
  const turns = chats.flatMap(({ turns, wanted }) => {
    const { tldr, keyPoints } = engine({ text: turns.join('\n') })
    return (wanted ?? []).map((turn) => [tldr, ...keyPoints].includes(turns[turn] as string))
  })
  return { wanted: share(turns, (isThere) => isThere) }
}

/** Part of the names that are found whole, and part of the texts with a word taken for a name or keyword that is none. */
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

/** In lower case, and without the mark of a plural. */
function plain(phrase: string): string {
  return phrase.toLowerCase().replace(/(?<=\p{L}{2})s$/u, '')
}

function share<T>(all: readonly T[], isGood: (one: T) => boolean): number {
  return all.length === 0 ? 0 : Number((all.filter(isGood).length / all.length).toFixed(2))
}
