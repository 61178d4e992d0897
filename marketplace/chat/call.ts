import type { ModelUsage } from '../ports/models.ts'
import type { AnswerSchema, ChatMessage } from './models/backend.ts'

/** Models of the platform that chats are asked of, by the interface's names. */
export const CHAT_MODEL_IDS = ['model-1', 'model-2', 'model-3', 'model-4'] as const

/** One of them. */
export type ChatModelId = (typeof CHAT_MODEL_IDS)[number]

/** All models of the platform. */
export const PLATFORM_MODEL_IDS = [...CHAT_MODEL_IDS, 'model-voice'] as const

/** One of them. */
export type PlatformModelId = (typeof PLATFORM_MODEL_IDS)[number]

/** How answers can be held to a form, the strictest first. */
export const ENFORCEMENTS = ['native', 'grammar', 'checked', 'repaired'] as const

/**
 * How an answer was held to its form: by its server, by a grammar, by words with a check afterwards, or only after it was told
 * what was wrong with its first try.
 */
export type Enforced = (typeof ENFORCEMENTS)[number]

/** What an answer must look like. */
export type AnswerForm =
  | { readonly is: 'text' }
  /** Some JSON object. */
  | { readonly is: 'json' }
  | { readonly is: 'schema'; readonly schema: AnswerSchema }

/** A chat as it was asked for, checked. */
export interface ChatCall {
  readonly model: ChatModelId
  /** With every field that came; those that the interface names have the right types. */
  readonly messages: readonly ChatMessage[]
  /** Tokens of the answer at most, all stages that speak together. */
  readonly maxTokens: number
  readonly temperature: number | null
  readonly form: AnswerForm
  /** Whether tools are offered, or results of tools are among the messages: then one model answers, and nothing is touched. */
  readonly usesTools: boolean
  /** Answers wanted; more than one only where a single call answers. */
  readonly count: number
  /** Fields for the one model of a single call, as they came: tools, tool_choice, top_p, stop, seed, logprobs and the like. */
  readonly extra: Readonly<Record<string, unknown>>
  /** Where the stream of an answer breaks, whether it is continued by another model from what was said. */
  readonly resumes: boolean
  /** Who asks: the wallet, or the key of the operator. Absent: nobody that is known. */
  readonly who?: string
}

/** How a stage went. */
export interface StageReport {
  /** As the interface names it. */
  readonly stage: string
  readonly ran: boolean
  /** Why it did not run, or what went wrong in it; absent where all went well. */
  readonly reason?: string
  /** Models that answered in it, each once: as their backends call them. */
  readonly models: readonly string[]
  readonly ms: number
}

/** A page that an answer leans on; `index` is its number in the text. */
export interface Citation {
  readonly index: number
  readonly url: string
  readonly title: string
  /** Place of a mark of it in the text, in UTF-16 units. */
  readonly start: number
  readonly end: number
}

/** What really happened for an answer: nothing is claimed that did not. */
export interface PlatformReport {
  readonly model: PlatformModelId
  /** Name of the list of stages that was worked through. */
  readonly pipeline: string
  /** What decided about it, where something did: a tier, a mode. */
  readonly tier?: string
  readonly mode?: string
  readonly stages: readonly StageReport[]
  /** Whether pages of a web search were given to the models. */
  readonly grounded: boolean
  readonly citations: readonly Citation[]
  /** Whether figures of usage are estimates, in part at least. */
  readonly usageEstimated: boolean
  /** How the answer was held to the form that was asked for; absent where none was. */
  readonly structured?: Enforced
  /** Where the answer broke off, after so many characters, and was continued by another question; absent where it did not. */
  readonly resumed?: { readonly afterChars: number }
  readonly [more: string]: unknown
}

/** One of the answers to a chat. */
export interface ChatChoice {
  /** The assistant's message with every field that came. */
  readonly message: Readonly<Record<string, unknown>>
  readonly finishReason: string
  /** As the model's backend gave them; null where it did not. */
  readonly logprobs: unknown
}

/** What came of a chat. */
export interface ChatOutcome {
  readonly choices: readonly ChatChoice[]
  /** Of all stages together. */
  readonly usage: ModelUsage
  readonly report: PlatformReport
}

/** A piece of one of the answers. */
export interface ChatPiece {
  readonly index: number
  readonly delta: Readonly<Record<string, unknown>>
  readonly logprobs?: unknown
}

/** Takes an answer while it is made. */
export interface ChatSink {
  /** The first stage went well: from here on something will be said, or a failure. Called any number of times. */
  readonly ready: () => void
  /** The next piece waits for a promise that is given back. */
  readonly take: (piece: ChatPiece) => void | Promise<void>
}
