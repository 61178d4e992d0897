/** Made of sentences of the text. */
export interface Summary {
  readonly tldr: string
  /** 3 to 5, in the order of the text. */
  readonly keyPoints: readonly string[]
}

/** Sentiments of a text. */
export const SENTIMENTS = ['negative', 'neutral', 'positive'] as const

/** The eight basic emotions of R. Plutchik (1980). */
export const EMOTIONS = ['joy', 'trust', 'anticipation', 'surprise', 'sadness', 'fear', 'anger', 'disgust'] as const

/** Sentiment and emotions of a text. */
export interface Mood {
  readonly sentiment: (typeof SENTIMENTS)[number]
  /** From -1 to 1. */
  readonly polarity: number
  /** From 0 to 1. */
  readonly confidence: number
  /** The strongest first. Shares are above 0 and add up to about 1. Empty if the text shows none. */
  readonly emotions: readonly { readonly emotion: (typeof EMOTIONS)[number]; readonly share: number }[]
}

/** Types of named entities. */
export const ENTITY_TYPES = ['person', 'place', 'organisation', 'other'] as const

/** Keywords, named entities and topics of a text. */
export interface Subjects {
  /** At most 15, best first; scores are above 0, at most 1. */
  readonly keywords: readonly { readonly text: string; readonly score: number }[]
  /** At most 30. */
  readonly entities: readonly { readonly text: string; readonly type: (typeof ENTITY_TYPES)[number] }[]
  /** At most 5. */
  readonly topics: readonly string[]
}

/** Tasks on English texts that need no model. */
export interface LanguageTasks {
  /** A text with fewer than three usable sentences is refused. */
  readonly 'text/summary': { readonly input: { readonly text: string }; readonly output: Summary }
  readonly 'text/mood': { readonly input: { readonly text: string }; readonly output: Mood }
  readonly 'text/subjects': { readonly input: { readonly text: string }; readonly output: Subjects }
}
