/** Effort that model-4 puts into an answer. */
export const TIERS = ['instant', 'fast', 'standard', 'deep'] as const

/** One of {@link TIERS}. */
export type Tier = (typeof TIERS)[number]

/** Subject of a question. */
export type Task = 'greeting' | 'question' | 'code' | 'creative' | 'knowledge' | 'math' | 'reasoning' | 'images'

/** Target time for a kind of work. */
export interface TimeBudget {
  readonly fromMs: number
  readonly toMs: number
}

/** Goals, never reported as measurements. A web search adds its time. */
export const TIER_BUDGET_MS: Readonly<Record<Tier | 'search', TimeBudget>> = {
  instant: { fromMs: 458, toMs: 458 },
  fast: { fromMs: 248, toMs: 248 },
  standard: { fromMs: 6_000, toMs: 17_000 },
  deep: { fromMs: 4_000, toMs: 4_000 },
  search: { fromMs: 1_000, toMs: 3_000 },
}
