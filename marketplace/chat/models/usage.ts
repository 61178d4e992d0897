import type { ModelUsage } from '../../ports/models.ts'
import type { TokenCounts } from './answer-tally.ts'
import type { AnswerSchema, ChatMessage } from './backend.ts'
import { estimatedTokens } from './tokens.ts'

const FRAME_TOKENS = 4
/**
 * Tokens of an image: 85, and 170 for each tile of 512 pixels. An image of 1024 by 1024 pixels has four tiles. In low
 * detail only 85 (https://platform.openai.com/docs/guides/images-vision, GPT-4o).
 */
export const IMAGE_TOKENS = { usual: 765, low: 85 }

type Fields = Readonly<Record<string, unknown>>

/** The tokens of a spoken text count as prompt. */
export function spokenUsage(text: string): ModelUsage {
  const tokens = estimatedTokens(text)
  return { promptTokens: tokens, completionTokens: 0, totalTokens: tokens, estimated: true }
}

/** Includes the tools and the form of the answer. */
export function estimatedPrompt(messages: readonly ChatMessage[], extra: Fields = {}, form?: AnswerSchema): number {
  const tools = Array.isArray(extra.tools) ? estimatedTokens(JSON.stringify(extra.tools)) : 0
  const schema = form === undefined ? 0 : estimatedTokens(JSON.stringify(form))
  return messages.reduce((sum, message) => sum + FRAME_TOKENS + messageTokens(message), tools + schema)
}

/** A count of an answer is believed up to the requested length, or three times the tokens seen if more, and 64 more. */
const BELIEF = { times: 3, more: 64 }
/** Templates add tokens, and images cost some models thirty times more. */
const PROMPT_BELIEF = { times: 40, more: 1_000 }
/**
 * A count is believed if `times` the count and `more` reach the estimate, which may be too high: images are cheap for
 * some models.
 */
const LEAST = { said: { times: 4 / 3, more: 16 }, prompt: { times: 3, more: 64 } }

/** What is known of a call besides the backend's count. */
export interface SeenCall {
  readonly prompt: number
  readonly said: number
  readonly maxTokens: number
}

/**
 * The backend's count, or an estimate if it is missing or implausible. A backend that counts nothing would make answers
 * free, and one that counts too much would use up the caller's daily limit.
 */
export function usageOf(counts: TokenCounts | null, { prompt, said, maxTokens }: SeenCall): ModelUsage {
  const { times, more } = PROMPT_BELIEF
  const promptTokens = believed(counts?.promptTokens, prompt, { ...LEAST.prompt, most: prompt * times + more })
  // Hidden reasoning counts towards the requested length, so no count within that length is too high.
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

/** Estimated if one of the two is. */
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

/** Fields of messages and parts whose content is counted elsewhere, or that cost nearly nothing. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls'])
const PART_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'image_url'])
const IMAGE_FIELDS: ReadonlySet<string> = new Set(['url', 'detail'])

/** Cached counts: each stage and each question asks for them again. */
const COUNTED = new WeakMap<ChatMessage, number>()

function messageTokens(message: ChatMessage): number {
  const tokens = COUNTED.get(message) ?? countedTokens(message)
  COUNTED.set(message, tokens)
  return tokens
}

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

/** Tokens of unknown fields. They are sent to the models too. */
function otherTokens(fields: Fields, known: ReadonlySet<string>): number {
  const others = Object.entries(fields).filter(([key, value]) => !known.has(key) && value !== null)
  return others.reduce((sum, [key, value]) => sum + estimatedTokens(key) + valueTokens(value), 0)
}

function valueTokens(value: unknown): number {
  return estimatedTokens(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}
