import type { ModelUsage } from '../outside/models.ts'
import type { ChatMessage, TokenCounts } from './backend.ts'

/** Characters of a token, roughly: about four in English, fewer in most other languages. */
const CHARS_PER_TOKEN = 3.5
/** Tokens that frame each message. */
const FRAME_TOKENS = 4

/** Rough number of tokens of a text. */
export function estimatedTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN)
}

/** Rough number of tokens of a conversation. */
export function estimatedPrompt(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + FRAME_TOKENS + estimatedTokens(textIn(content)), 0)
}

/** Usage as the backend counted it, or an estimate that says so. */
export function usageOf(counts: TokenCounts | null, messages: readonly ChatMessage[], text: string): ModelUsage {
  const { promptTokens, completionTokens } = counts ?? {
    promptTokens: estimatedPrompt(messages),
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

/** Text of a message's content: text itself, or the texts among its parts. */
function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (part as { readonly text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join(' ')
}
