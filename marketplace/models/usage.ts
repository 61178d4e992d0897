import type { ModelUsage } from '../outside/models.ts'
import type { ChatMessage, TokenCounts } from './backend.ts'
import { estimatedTokens } from './tokens.ts'

/** Tokens that frame each message. */
const FRAME_TOKENS = 4
/**
 * Tokens of a picture: 85, and 170 for each of its tiles of 512 pixels, as which one of 1024 by 1024 has four; only 85 where it is
 * asked for in low detail (https://platform.openai.com/docs/guides/images-vision, GPT-4o).
 */
export const IMAGE_TOKENS = { usual: 765, low: 85 }

type Fields = Readonly<Record<string, unknown>>

/** Rough number of tokens of a conversation, with the tools that are offered in it. */
export function estimatedPrompt(messages: readonly ChatMessage[], extra: Fields = {}): number {
  const tools = Array.isArray(extra.tools) ? estimatedTokens(JSON.stringify(extra.tools)) : 0
  return messages.reduce((sum, message) => sum + FRAME_TOKENS + messageTokens(message), tools)
}

/** Usage as the backend counted it, or an estimate that says so. */
export function usageOf(
  counts: TokenCounts | null,
  { messages, extra }: { readonly messages: readonly ChatMessage[]; readonly extra?: Fields },
  text: string,
): ModelUsage {
  const { promptTokens, completionTokens } = counts ?? {
    promptTokens: estimatedPrompt(messages, extra),
    completionTokens: estimatedTokens(text),
  }
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: counts === null }
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

/** Tokens of what is said in a message, and of what tools were asked for in it. */
function messageTokens({ content, tool_calls: calls }: ChatMessage): number {
  const called = Array.isArray(calls) ? estimatedTokens(JSON.stringify(calls)) : 0
  if (typeof content === 'string') return called + estimatedTokens(content)
  if (!Array.isArray(content)) return called
  return content.reduce((sum: number, part: unknown) => sum + partTokens(part as Fields | null), called)
}

function partTokens(part: Fields | null): number {
  if (typeof part?.text === 'string') return estimatedTokens(part.text)
  if (part?.type !== 'image_url') return 0
  const { detail } = (part.image_url ?? {}) as { readonly detail?: unknown }
  return detail === 'low' ? IMAGE_TOKENS.low : IMAGE_TOKENS.usual
}
