import type { PlatformModelId } from '../call.ts'
import type { LatencyFigures } from '../models/latencies.ts'

/** Longest question about the platform, in characters. */
export const QUESTION_CHARS_MAX = 4_000

/** Names of the facts that the operator states about another product. */
export const COMPARISON_FIELDS = [
  'parameters',
  'pricing',
  'context_window',
  'math',
  'writing',
  'coding',
  'multimodal',
  'web_search',
  'speed',
] as const

/** Stated by the operator. This node has measured none of it. */
export type ProductFacts = Readonly<Record<(typeof COMPARISON_FIELDS)[number], string>>

/** By the name of the product. */
export type Comparison = Readonly<Record<string, ProductFacts>>

/** A question with its answer. */
export interface FaqEntry {
  readonly question: string
  readonly answer: string
}

/** Over the last day. */
export interface MeasuredSpeed {
  readonly count: number
  readonly p50_ms: number
  readonly p95_ms: number
}

/** A tier of model-4: its target time and the measured time. */
export interface TierSpeed {
  readonly tier: string
  readonly budget_ms: { readonly from: number; readonly to: number }
  readonly measured: MeasuredSpeed | null
}

/** A model in the info API. Fields after `info_url` are additions to the specified interface. */
export interface ModelInfo {
  readonly id: PlatformModelId
  readonly name: string
  readonly tagline: string
  readonly speed: string
  readonly parameters: string
  readonly powered_by: string
  readonly context_window: string
  readonly pricing: string
  readonly best_for: readonly string[]
  readonly pipeline: readonly string[]
  readonly capabilities: readonly string[]
  readonly limitations: readonly string[]
  readonly how_it_works: string
  readonly info_url: string
  readonly available: boolean
  /** Why it cannot answer now. Absent if it can. */
  readonly unavailable_reason?: string
  /** Settings that would make it available. Empty if settings do not help. Absent if it is available. */
  readonly requires?: readonly string[]
  /** Null if there was no answer within the last day. */
  readonly measured: MeasuredSpeed | null
  /** Only for model-4. */
  readonly tiers?: readonly TierSpeed[]
}

/** Addresses of the platform's documents. */
export interface PlatformUrls {
  readonly homepage: string
  readonly docs: string
  readonly models_overview: string
  readonly comparison: string
  readonly api_base: string
  readonly info_api: string
  readonly sitemap: string
  readonly openapi_spec: string
}

/** The platform in the info API. */
export interface PlatformInfo {
  readonly platform: string
  readonly version: '2.0'
  readonly description: string
  readonly total_parameters: string
  readonly underlying_model_count: number
  readonly model_count: number
  readonly pricing: string
  /** Last change of the configuration (YYYY-MM-DD). */
  readonly updated: string
  readonly urls: PlatformUrls
  readonly models: readonly ModelInfo[]
  readonly faq: readonly FaqEntry[]
  readonly comparison_vs_external: Comparison
  readonly usage_for_ai_consumers: {
    readonly description: string
    readonly fetch_examples: readonly string[]
    readonly grounding_instructions: string
  }
}

/** Answer to a question about the platform. */
export interface QaAnswer {
  readonly question: string
  readonly answer: string
  /** Empty if the answer is unknown. */
  readonly sources: readonly { readonly title: string; readonly url: string }[]
  /** Share of the question that the best source covers, from 0 to 1. */
  readonly confidence: number
  /** `retrieval`, or the model that worded the answer. */
  readonly answered_by: string
}

/** Response times in the fields of the API. */
export function measuredSpeed(figures: LatencyFigures | null): MeasuredSpeed | null {
  return figures === null ? null : { count: figures.count, p50_ms: figures.p50Ms, p95_ms: figures.p95Ms }
}
