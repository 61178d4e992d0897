import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'

/** What a model is used for. The operator gives each model its roles. */
export const MODEL_ROLES = [
  'fast',
  'general',
  'code',
  'reason',
  'vision',
  'judge',
  'translate',
  'image',
  'speech',
] as const

/** One of {@link MODEL_ROLES}. */
export type ModelRole = (typeof MODEL_ROLES)[number]

/** A message of a conversation. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** One request to a model. */
export interface ModelRequest {
  readonly role: ModelRole
  readonly messages: readonly ModelMessage[]
  readonly maxTokens: number
  readonly temperature?: number
  readonly jsonSchema?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }
}

/** Tokens used by a request. */
export interface ModelUsage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  /** Whether a figure is estimated, because the backend reported none or an implausible one. */
  readonly estimated: boolean
}

/** Answer of a model. */
export interface ModelAnswer {
  readonly text: string
  /** As the backend reports it. */
  readonly model: string
  readonly backend: string
  readonly finishReason: string
  readonly usage: ModelUsage
}

/** The bytes are unchecked and of any format. */
export interface ModelPicture {
  readonly bytes: Uint8Array
  readonly model: string
  readonly backend: string
}

/** The models of this node. Faults: `model/*`. */
export interface Models {
  readonly readiness: (role: ModelRole) => Readiness
  readonly complete: (request: ModelRequest, signal: AbortSignal) => Promise<Result<ModelAnswer>>
  readonly picture: (prompt: string, signal: AbortSignal) => Promise<Result<ModelPicture>>
}

/** A text in another language. */
export interface Translation {
  /** ISO 639-1; null if the translator does not tell. */
  readonly sourceLanguage: string | null
  readonly text: string
  readonly engine: string
}
