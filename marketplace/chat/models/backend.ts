import type { Result } from '../../../consensus/primitives/result.ts'
import type { ModelRole } from '../../ports/models.ts'
import type { AnswerTally, TokenCounts } from './answer-tally.ts'

/** A message as it goes to a backend: the fields of the OpenAI interface, those that nobody here knows kept. */
export type ChatMessage = Readonly<Record<string, unknown>> & { readonly role: string }

/** What a model can do beside answering in text. */
export const MODEL_SUPPORTS = ['tools', 'jsonSchema', 'vision', 'streamUsage'] as const

/** One of these. */
export type ModelSupport = (typeof MODEL_SUPPORTS)[number]

/** A model of a backend, as its operator describes it. */
export interface ModelFacts {
  /** As the backend calls it. */
  readonly id: string
  readonly roles: readonly ModelRole[]
  /** Window in tokens: prompt and answer together. */
  readonly context: number
  readonly supports: ReadonlySet<ModelSupport>
  /** Number of parameters in the operator's words ("8B"); null where they say nothing. */
  readonly declaredParameters: string | null
  /** Voices of a model that speaks, the usual one first. */
  readonly voices?: readonly string[]
}

/** A JSON schema that an answer must follow. */
export interface AnswerSchema {
  readonly name: string
  readonly description?: string
  /** Whether a model that takes schemas is to follow it to the letter, which not every schema allows; it is unless said. */
  readonly strict?: boolean
  readonly schema: Readonly<Record<string, unknown>>
}

/** A conversation to be continued by one model. */
export interface ChatRequest {
  readonly model: ModelFacts
  readonly messages: readonly ChatMessage[]
  readonly maxTokens: number
  readonly temperature?: number
  readonly jsonSchema?: AnswerSchema
  /** Whether any JSON object is wanted. */
  readonly json?: boolean
  /** Fields that go to the backend as they are: tools, tool_choice, parallel_tool_calls, seed. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Hears of all that comes, also of what is not handed on: who asked is charged for it. */
  readonly tally?: AnswerTally
}

/** How a model was held to a form: by its server, by a grammar that lets it say nothing else, or by words alone. */
export type HeldBy = 'native' | 'grammar' | 'words'

/** A finished answer of a backend. */
export interface ChatAnswer {
  /** The assistant's message with every field that came, tool calls among them. */
  readonly message: Readonly<Record<string, unknown>>
  /** Its text, or the words with which it refuses to answer; empty only where there are tool calls. */
  readonly text: string
  /** As the backend reports it, else as it was asked for. */
  readonly model: string
  /** As the backend gave it: mostly stop, length, tool_calls or content_filter. */
  readonly finishReason: string
  /** How likely its tokens were, as the backend gave it; absent where it did not. */
  readonly logprobs?: unknown
  /** Absent where no form was asked for. */
  readonly heldBy?: HeldBy
  /** Null where the backend did not tell. */
  readonly usage: TokenCounts | null
  /** Malformed pieces of a stream that were left out. */
  readonly skipped: number
}

/**
 * Takes a piece of an answer as it comes, with all its fields, and how likely its tokens were, where that came with it. The next one
 * waits for a promise that is given back.
 */
export type DeltaSink = (delta: Readonly<Record<string, unknown>>, logprobs?: unknown) => void | Promise<void>

/** Hears of every part of an answer that comes and is not handed on in pieces: whoever is heard is not dead. */
export type Heard = () => void

/** A text to be spoken by one model, short enough for one go. */
export interface SpeechQuestion {
  readonly model: ModelFacts
  readonly text: string
  readonly voice: string
  /** 1 is as usual. */
  readonly speed: number
}

/** A picture as it came. */
export interface PictureBytes {
  readonly bytes: Uint8Array
  readonly model: string
}

/**
 * One place where models run. No method throws for what the other side does. Faults: `model/unreachable`, `model/timeout` (the
 * signal), `model/refused`, `model/cut`, `model/answer`; `status` in their detail is the HTTP status, `retryAfterMs` the pause that
 * the backend asked for.
 */
export interface ModelBackend {
  readonly id: string
  /** Asks for a whole answer. */
  readonly complete: (request: ChatRequest, signal: AbortSignal, heard?: Heard) => Promise<Result<ChatAnswer>>
  /** Asks for an answer in pieces; the result is the whole of it. */
  readonly stream: (request: ChatRequest, sink: DeltaSink, signal: AbortSignal) => Promise<Result<ChatAnswer>>
  readonly picture: (
    model: ModelFacts,
    prompt: string,
    signal: AbortSignal,
    heard?: Heard,
  ) => Promise<Result<PictureBytes>>
  /** Bytes of a WAV file, with whatever it holds; absent where no model of it speaks. */
  readonly speech?: (question: SpeechQuestion, signal: AbortSignal, heard?: Heard) => Promise<Result<Uint8Array>>
  /** The cheapest question that shows whether it can be asked: the ids of the models that it lists, null where it has no such list. */
  readonly check: (signal: AbortSignal) => Promise<Result<readonly string[] | null>>
  /** Settings that are wrong where the check fails from the start; absent where that may pass by itself. */
  readonly requires?: readonly string[]
}

/** How much a backend may be asked; null is no limit of its own. */
export interface BackendLimits {
  /** Requests within any 60 seconds. */
  readonly rpm: number | null
  /** Tokens within 60 seconds, prompts and answers. */
  readonly tpm: number | null
  /** Requests at once. */
  readonly concurrency: number
  /** Lower is asked first. */
  readonly priority: number
  /** Longest time in which nothing of an answer comes: before its beginning, and between its pieces. */
  readonly timeoutMs: number
}

/** A backend with its models and limits. */
export interface BackendEntry {
  readonly backend: ModelBackend
  readonly models: readonly ModelFacts[]
  readonly limits: BackendLimits
}
