import type { ChatMessage } from './models/backend.ts'

/** Text of a message's content: text itself, or the texts among its parts. */
export function textOfMessage({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (part as { readonly text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join('\n')
}

/** Text of the last message of the user; empty where there is none. */
export function lastQuestion(messages: readonly ChatMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user')
  return last === undefined ? '' : textOfMessage(last)
}
