import type { ModelUsage } from '../ports/models.ts'
import type { AnswerSchema, ChatMessage } from './models/backend.ts'

/** Names in the API of the platform's models that answer chats. */
export const CHAT_MODEL_IDS = ['model-1', 'model-2', 'model-3', 'model-4'] as const

/** One of {@link CHAT_MODEL_IDS}. */
export type ChatModelId = (typeof CHAT_MODEL_IDS)[number]

/** All models of the platform. */
export const PLATFORM_MODEL_IDS = [...CHAT_MODEL_IDS, 'model-voice'] as const

/** One of {@link PLATFORM_MODEL_IDS}. */
export type PlatformModelId = (typeof PLATFORM_MODEL_IDS)[number]

/** Ways to enforce the form of an answer, the strictest first. */
export const ENFORCEMENTS = ['native', 'grammar', 'checked', 'repaired'] as const

/**
 * The form was enforced by the model's server, by a grammar, by instructions and a check afterwards, or by a second
 * attempt after the model was told what was wrong.
 */
export type Enforced = (typeof ENFORCEMENTS)[number]

/** What an answer must look like. */
export type AnswerForm =
  | { readonly is: 'text' }
  /** Any JSON object. */
  | { readonly is: 'json' }
  | { readonly is: 'schema'; readonly schema: AnswerSchema }

/** A chat request that was checked. */
export interface ChatCall {
  readonly model: ChatModelId
  /** All fields that the caller sent. Those that the API defines have the right types. */
  readonly messages: readonly ChatMessage[]
  /** Each stage that writes a draft or an answer may use as many. */
  readonly maxTokens: number
  readonly temperature: number | null
  readonly form: AnswerForm
  /** Tools are offered, or tool results are among the messages. */
  readonly usesTools: boolean
  /** More than one only if a single call answers. */
  readonly count: number
  /** Passed unchanged to the model of a single call: tools, tool_choice, top_p, stop, seed, logprobs and the like. */
  readonly extra: Readonly<Record<string, unknown>>
  /** Whether a model is asked to continue the answer if its stream breaks off. */
  readonly resumes: boolean
  /** The caller: a wallet, or a key of the operator. Absent if unknown. */
  readonly who?: string
  /** Whether the chat is paid for. Then it comes before free ones. */
  readonly isPaid?: true
}

/** Report of a stage. */
export interface StageReport {
  readonly stage: string
  readonly ran: boolean
  /** Why the stage did not run, or what went wrong. Absent if all went well. */
  readonly reason?: string
  /** The models that answered, each once, by their names at the backends. */
  readonly models: readonly string[]
  readonly ms: number
}

/** A page that an answer cites, and its number in the text. */
export interface Citation {
  readonly index: number
  readonly url: string
  readonly title: string
  /** Of the citation mark, in UTF-16 units. */
  readonly start: number
  readonly end: number
}

/** What the platform did for an answer. A stage that did not run is reported as such. */
export interface PlatformReport {
  readonly model: PlatformModelId
  readonly pipeline: string
  /** Absent if the pipeline has no tiers. */
  readonly tier?: string
  /** Modes that the caller named, joined by `+`. Absent if there are none. */
  readonly mode?: string
  readonly stages: readonly StageReport[]
  /** The models were given pages of a web search. */
  readonly grounded: boolean
  readonly citations: readonly Citation[]
  /** Whether the usage is estimated, at least in part. */
  readonly usageEstimated: boolean
  /** Absent if no form was requested. */
  readonly structured?: Enforced
  /** If the answer broke off and was continued: the number of UTF-16 units before the break. */
  readonly resumed?: { readonly afterChars: number }
  readonly [more: string]: unknown
}

/** One answer of a chat. */
export interface ChatChoice {
  /** From a single call it has all fields that the backend sent, but its text may have been corrected. */
  readonly message: Readonly<Record<string, unknown>>
  readonly finishReason: string
  /** Log probabilities as the backend sent them. Null if it sent none, or if the text is no longer the one they belong to. */
  readonly logprobs: unknown
}

/** Result of a chat. */
export interface ChatOutcome {
  readonly choices: readonly ChatChoice[]
  /** Tokens of all stages together. */
  readonly usage: ModelUsage
  readonly report: PlatformReport
}

/** A piece of an answer. */
export interface ChatPiece {
  readonly index: number
  readonly delta: Readonly<Record<string, unknown>>
  readonly logprobs?: unknown
}

/** Receives an answer while it is made. */
export interface ChatSink {
  /** A model has answered, so headers can be sent. May be called several times, also after pieces, or not at all: a piece says the same. */
  readonly ready: () => void
  /** The next piece waits for the returned promise. */
  readonly take: (piece: ChatPiece) => void | Promise<void>
}
