import type { ChatMessage } from './models/backend.ts'

/** The content, or its text parts. */
export function textOfMessage({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (part as { readonly text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join('\n')
}

/** Empty if there is no message of the user. */
export function lastQuestion(messages: readonly ChatMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user')
  return last === undefined ? '' : textOfMessage(last)
}
