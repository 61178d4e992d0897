/** How much work model-4 puts into an answer. */
export const TIERS = ['instant', 'fast', 'standard', 'deep'] as const

/** One of them. */
export type Tier = (typeof TIERS)[number]

/** What a question is about; only `code` has its code checked. */
export type Task = 'greeting' | 'question' | 'code' | 'creative' | 'knowledge' | 'math' | 'reasoning' | 'images'

/** A span of time that a kind of work should stay within. */
export interface TimeBudget {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Time that each tier, and a search of the web beside it, is meant to take. These are what is aimed at, and never told as what was
 * measured.
 */
export const TIER_BUDGET_MS: Readonly<Record<Tier | 'search', TimeBudget>> = {
  instant: { fromMs: 458, toMs: 458 },
  fast: { fromMs: 248, toMs: 248 },
  standard: { fromMs: 6_000, toMs: 17_000 },
  deep: { fromMs: 4_000, toMs: 4_000 },
  search: { fromMs: 1_000, toMs: 3_000 },
}
