import type { PlatformRules, Site } from './platform-rules.ts'
import type { FaqEntry, ModelInfo } from './shapes.ts'

/** A question with what it is found by. */
export interface FaqItem extends FaqEntry {
  /** Name in addresses. */
  readonly id: string
  /** Further words under which it is found. */
  readonly words: string
}

/** What the answers are made from. */
export interface FaqFacts {
  readonly site: Site
  readonly rules: PlatformRules
  readonly models: readonly ModelInfo[]
  /** Distinct models behind all of them, and their parameters. */
  readonly underlying: { readonly count: number; readonly names: string; readonly parameters: string }
  readonly pricing: string
}
