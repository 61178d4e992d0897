import type { Result } from '../../../consensus/primitives/result.ts'
import type { ModelRole } from '../../ports/models.ts'
import type { AnswerTally, TokenCounts } from './answer-tally.ts'

/** A message as sent to a backend: OpenAI fields, with unknown fields kept. */
export type ChatMessage = Readonly<Record<string, unknown>> & { readonly role: string }

/** Abilities of a model besides answering in text. */
export const MODEL_SUPPORTS = ['tools', 'jsonSchema', 'vision', 'streamUsage'] as const

/** One of {@link MODEL_SUPPORTS}. */
export type ModelSupport = (typeof MODEL_SUPPORTS)[number]

/** As configured by the operator. */
export interface ModelFacts {
  readonly id: string
  readonly roles: readonly ModelRole[]
  /** Context window in tokens, prompt and answer together. */
  readonly context: number
  readonly supports: ReadonlySet<ModelSupport>
  /** Such as "8B". Null if not configured. */
  readonly declaredParameters: string | null
  /** Voices of a speech model, the default first. */
  readonly voices?: readonly string[]
}

/** A JSON schema that an answer must follow. */
export interface AnswerSchema {
  readonly name: string
  readonly description?: string
  /** Whether the model must follow the schema exactly. Not every schema allows that. Default true. */
  readonly strict?: boolean
  readonly schema: Readonly<Record<string, unknown>>
}

/** A conversation for one model to continue. */
export interface ChatRequest {
  readonly model: ModelFacts
  readonly messages: readonly ChatMessage[]
  readonly maxTokens: number
  readonly temperature?: number
  readonly jsonSchema?: AnswerSchema
  /** Whether the answer must be a JSON object, of any shape. */
  readonly json?: boolean
  /** Passed to the backend unchanged: tools, tool_choice, seed and the like. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Counts everything that comes, even if it is not passed on: the caller is charged for it. */
  readonly tally?: AnswerTally
}

/** How a form was enforced: by the server, by a grammar during generation, or only by instructions. */
export type HeldBy = 'native' | 'grammar' | 'words'

/** A complete answer of a backend. */
export interface ChatAnswer {
  /** With all its fields, including tool calls. */
  readonly message: Readonly<Record<string, unknown>>
  /** Text or refusal of the message. Empty only with tool calls. */
  readonly text: string
  /** As the backend reports it, else as requested. */
  readonly model: string
  /** As the backend sent it: usually stop, length, tool_calls or content_filter. */
  readonly finishReason: string
  /** Absent if the backend sent none. */
  readonly logprobs?: unknown
  /** Absent if no form was requested. */
  readonly heldBy?: HeldBy
  /** Null if the backend did not tell. */
  readonly usage: TokenCounts | null
  /** Malformed stream pieces that were dropped. */
  readonly skipped: number
}

/** A piece of an answer with all its fields, and its log probabilities if present. The next piece waits for the promise. */
export type DeltaSink = (delta: Readonly<Record<string, unknown>>, logprobs?: unknown) => void | Promise<void>

/** Called for parts of an answer that are not passed on. They show that the backend is alive. */
export type Heard = () => void

/** A text for one speech model, short enough for one request. */
export interface SpeechQuestion {
  readonly model: ModelFacts
  readonly text: string
  readonly voice: string
  /** 1 is normal speed. */
  readonly speed: number
}

/** An image as received. */
export interface PictureBytes {
  readonly bytes: Uint8Array
  readonly model: string
}

/**
 * A place where models run. No method throws for failures of the other side. Faults: `model/unreachable`,
 * `model/timeout` (the signal), `model/refused`, `model/cut`, `model/answer`. In their detail, `status` is the HTTP
 * status and `retryAfterMs` the pause that the backend asked for.
 */
export interface ModelBackend {
  readonly id: string
  readonly complete: (request: ChatRequest, signal: AbortSignal, heard?: Heard) => Promise<Result<ChatAnswer>>
  /** The result is the complete answer. */
  readonly stream: (request: ChatRequest, sink: DeltaSink, signal: AbortSignal) => Promise<Result<ChatAnswer>>
  readonly picture: (
    model: ModelFacts,
    prompt: string,
    signal: AbortSignal,
    heard?: Heard,
  ) => Promise<Result<PictureBytes>>
  /** An unchecked WAV file. Absent if the backend has no speech model. */
  readonly speech?: (question: SpeechQuestion, signal: AbortSignal, heard?: Heard) => Promise<Result<Uint8Array>>
  /** The cheapest health check. Gives the model ids that the backend lists, or null if it has no list. */
  readonly check: (signal: AbortSignal) => Promise<Result<readonly string[] | null>>
  /** Settings to correct if the check fails from the start. Absent if the failure may pass by itself. */
  readonly requires?: readonly string[]
}

/** Null means no limit. */
export interface BackendLimits {
  /** Requests within any 60 seconds. */
  readonly rpm: number | null
  /** Tokens of prompts and answers within 60 seconds. */
  readonly tpm: number | null
  readonly concurrency: number
  /** Lower values are asked first. */
  readonly priority: number
  /** Longest silence of an answer: before its beginning, and between its pieces. */
  readonly timeoutMs: number
}

/** A backend with its models and limits. */
export interface BackendEntry {
  readonly backend: ModelBackend
  readonly models: readonly ModelFacts[]
  readonly limits: BackendLimits
}
