import type { PlatformRules, Site } from './platform-rules.ts'
import type { FaqEntry, ModelInfo } from './shapes.ts'

/** A question, its answer, and the words that find it. */
export interface FaqItem extends FaqEntry {
  /** Anchor of the question in addresses. */
  readonly id: string
  /** Further words that find the question. */
  readonly words: string
}

/** The facts that answers are made from. */
export interface FaqFacts {
  readonly site: Site
  readonly rules: PlatformRules
  readonly models: readonly ModelInfo[]
  /** The distinct models behind the platform, and their parameters. */
  readonly underlying: { readonly count: number; readonly names: string; readonly parameters: string }
  readonly pricing: string
}
