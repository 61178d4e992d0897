import type { PlatformRules, Site } from './platform-rules.ts'
import type { FaqEntry, ModelInfo } from './shapes.ts'

/** A question, its answer, and the words that find it. */
export interface FaqItem extends FaqEntry {
  /** Anchor in addresses. */
  readonly id: string
  /** Words that find the question besides its own. */
  readonly words: string
}

/** The facts that answers are made from. */
export interface FaqFacts {
  readonly site: Site
  readonly rules: PlatformRules
  readonly models: readonly ModelInfo[]
  /** Each model counts once. */
  readonly underlying: { readonly count: number; readonly names: string; readonly parameters: string }
  readonly pricing: string
}
