import type { ChatMessage } from './models/backend.ts'

/** Text of a message: its content, or the text parts of its content. */
export function textOfMessage({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (part as { readonly text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join('\n')
}

/** Text of the user's last message. Empty if there is none. */
export function lastQuestion(messages: readonly ChatMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user')
  return last === undefined ? '' : textOfMessage(last)
}
