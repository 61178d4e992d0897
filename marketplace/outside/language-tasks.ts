/** A text in short, in its own sentences. */
export interface Summary {
  readonly tldr: string
  readonly keyPoints: readonly string[]
  /** ISO 639-3, `und` where it cannot be told. */
  readonly language: string
}

/** Mood of a text. */
export interface Mood {
  readonly sentiment: 'negative' | 'neutral' | 'positive'
  /** From -1 to 1. */
  readonly polarity: number
  /** From 0 to 1. */
  readonly confidence: number
  readonly language: string
}

/** What a text is about. */
export interface Subjects {
  readonly keywords: readonly { readonly text: string; readonly score: number }[]
  readonly entities: readonly { readonly text: string; readonly type: string }[]
  readonly topics: readonly string[]
  readonly language: string
}

/** Work on texts, without a model. */
export interface LanguageTasks {
  readonly 'text/summary': { readonly input: { readonly text: string }; readonly output: Summary }
  readonly 'text/mood': { readonly input: { readonly text: string }; readonly output: Mood }
  readonly 'text/subjects': { readonly input: { readonly text: string }; readonly output: Subjects }
}
