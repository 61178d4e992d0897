import type { ModelUsage } from '../../ports/models.ts'
import type { TokenCounts } from './answer-tally.ts'
import type { AnswerSchema, ChatMessage } from './backend.ts'
import { estimatedTokens } from './tokens.ts'

/** Tokens that frame each message. */
const FRAME_TOKENS = 4
/**
 * Tokens of a picture: 85, and 170 for each of its tiles of 512 pixels, as which one of 1024 by 1024 has four; only 85 where it is
 * asked for in low detail (https://platform.openai.com/docs/guides/images-vision, GPT-4o).
 */
export const IMAGE_TOKENS = { usual: 765, low: 85 }

type Fields = Readonly<Record<string, unknown>>

/** What reading a text out counts: the tokens of the text, which a model was asked with. */
export function spokenUsage(text: string): ModelUsage {
  const tokens = estimatedTokens(text)
  return { promptTokens: tokens, completionTokens: 0, totalTokens: tokens, estimated: true }
}

/** Rough number of tokens of a conversation, with the tools that are offered in it and the form of its answer. */
export function estimatedPrompt(messages: readonly ChatMessage[], extra: Fields = {}, form?: AnswerSchema): number {
  const tools = Array.isArray(extra.tools) ? estimatedTokens(JSON.stringify(extra.tools)) : 0
  const schema = form === undefined ? 0 : estimatedTokens(JSON.stringify(form))
  return messages.reduce((sum, message) => sum + FRAME_TOKENS + messageTokens(message), tools + schema)
}

/** How far above what was seen the count of a backend may be before it is not believed: some thoughts are not shown. */
const BELIEF = { times: 3, more: 64 }
/** The same above a prompt: templates frame it, and pictures cost some models thirty times as much as others. */
const PROMPT_BELIEF = { times: 40, more: 1_000 }
/** How far below: the estimate of what was said is within a quarter, and pictures of a prompt are cheap to some models. */
const LEAST = { said: { times: 4 / 3, more: 16 }, prompt: { times: 3, more: 64 } }

/** What is known of a call beside what its backend counted. */
export interface SeenCall {
  /** About how many tokens the prompt has, and how many came as its answer. */
  readonly prompt: number
  readonly said: number
  /** Longest answer that was asked for. */
  readonly maxTokens: number
}

/**
 * Usage as the backend counted it; where it did not, or counted what cannot be, an estimate that says so. A backend that counts
 * nothing would make every answer free, and one that counts too much would use up the caller's day.
 */
export function usageOf(counts: TokenCounts | null, { prompt, said, maxTokens }: SeenCall): ModelUsage {
  const { times, more } = PROMPT_BELIEF
  const promptTokens = believed(counts?.promptTokens, prompt, { ...LEAST.prompt, most: prompt * times + more })
  // What is thought and not shown is within what was asked for.
  const most = Math.max(maxTokens, said * BELIEF.times) + BELIEF.more
  const completionTokens = believed(counts?.completionTokens, said, { ...LEAST.said, most })
  const estimated = promptTokens !== counts?.promptTokens || completionTokens !== counts.completionTokens
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated }
}

function believed(
  count: number | undefined,
  seen: number,
  { times, more, most }: { readonly times: number; readonly more: number; readonly most: number },
): number {
  if (count === undefined || count > most) return seen
  return seen > count * times + more ? seen : count
}

/** Both together; an estimate in it makes an estimate of it. */
export function addUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    estimated: one.estimated || other.estimated,
  }
}

/** Nothing used. */
export const NO_USAGE: ModelUsage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: false }

/** Fields of messages and of their parts that are counted by what is in them, or name what cost next to nothing. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls'])
const PART_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'image_url'])
const IMAGE_FIELDS: ReadonlySet<string> = new Set(['url', 'detail'])

/** Tokens of messages that were counted: each stage and each question asks for them again. */
const COUNTED = new WeakMap<ChatMessage, number>()

function messageTokens(message: ChatMessage): number {
  const tokens = COUNTED.get(message) ?? countedTokens(message)
  COUNTED.set(message, tokens)
  return tokens
}

/** Tokens of what is said in a message, and of what tools were asked for in it. */
function countedTokens(message: ChatMessage): number {
  const { content, tool_calls: calls } = message
  const called = calls === undefined || calls === null ? 0 : valueTokens(calls)
  const beside = called + otherTokens(message, MESSAGE_FIELDS)
  if (typeof content === 'string') return beside + estimatedTokens(content)
  if (!Array.isArray(content)) return beside
  return content.reduce((sum: number, part: unknown) => sum + partTokens(part as Fields | null), beside)
}

function partTokens(part: Fields | null): number {
  if (part === null || typeof part !== 'object') return 0
  const text = typeof part.text === 'string' ? estimatedTokens(part.text) : 0
  const beside = text + otherTokens(part, PART_FIELDS)
  if (part.type !== 'image_url') return beside
  const image = (part.image_url ?? {}) as Fields
  return beside + otherTokens(image, IMAGE_FIELDS) + (image.detail === 'low' ? IMAGE_TOKENS.low : IMAGE_TOKENS.usual)
}

/** Tokens of fields that nobody here knows: they go to the models with the others. */
function otherTokens(fields: Fields, known: ReadonlySet<string>): number {
  const others = Object.entries(fields).filter(([key, value]) => !known.has(key) && value !== null)
  return others.reduce((sum, [key, value]) => sum + estimatedTokens(key) + valueTokens(value), 0)
}

function valueTokens(value: unknown): number {
  return estimatedTokens(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}
