import type { Citation } from '../call.ts'

/** A citation as the OpenAI interface has it; places in UTF-16 units of the text. */
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
