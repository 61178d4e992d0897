import type { Citation } from '../call.ts'
import type { ChatMessage } from '../models/backend.ts'

/** As in the OpenAI API. Positions are UTF-16 units of the text. */
export interface UrlCitation {
  readonly type: 'url_citation'
  readonly url_citation: {
    readonly url: string
    readonly title: string
    readonly start_index: number
    readonly end_index: number
  }
}

/** Citations of an answer as annotations of its message. */
export function annotationsOf(citations: readonly Citation[]): readonly UrlCitation[] {
  return citations.map(({ url, title, start, end }) => ({
    type: 'url_citation',
    url_citation: { url, title, start_index: start, end_index: end },
  }))
}

/** Callers send messages back as received, and some backends refuse unknown fields. */
export function withoutAnnotations(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.map((message) => {
    if (message.annotations === undefined) return message
    const { annotations: _, ...rest } = message
    return rest as ChatMessage
  })
}
