/** A text in short, in its own sentences. */
export interface Summary {
  readonly tldr: string
  /** From 3 to 5, in the order of the text. */
  readonly keyPoints: readonly string[]
}

/** Moods that a text can have. */
export const SENTIMENTS = ['negative', 'neutral', 'positive'] as const

/** Emotions that a text can show (R. Plutchik, 1980). */
export const EMOTIONS = ['joy', 'trust', 'anticipation', 'surprise', 'sadness', 'fear', 'anger', 'disgust'] as const

/** Mood of a text. */
export interface Mood {
  readonly sentiment: (typeof SENTIMENTS)[number]
  /** From -1 to 1. */
  readonly polarity: number
  /** From 0 to 1. */
  readonly confidence: number
  /** The strongest first; shares above 0, 1 in all but for rounding. None where the text shows none. */
  readonly emotions: readonly { readonly emotion: (typeof EMOTIONS)[number]; readonly share: number }[]
}

/** What named things of a text can be. */
export const ENTITY_TYPES = ['person', 'place', 'organisation', 'other'] as const

/** What a text is about. */
export interface Subjects {
  /** At most 15, best first; scores above 0 and up to 1. */
  readonly keywords: readonly { readonly text: string; readonly score: number }[]
  /** At most 30. */
  readonly entities: readonly { readonly text: string; readonly type: (typeof ENTITY_TYPES)[number] }[]
  /** At most 5. */
  readonly topics: readonly string[]
}

/** Work on English texts, without a model. */
export interface LanguageTasks {
  /** Of fewer than three usable sentences it is refused. */
  readonly 'text/summary': { readonly input: { readonly text: string }; readonly output: Summary }
  readonly 'text/mood': { readonly input: { readonly text: string }; readonly output: Mood }
  readonly 'text/subjects': { readonly input: { readonly text: string }; readonly output: Subjects }
}
