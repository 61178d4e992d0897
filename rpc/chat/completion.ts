import { randomUUID } from 'node:crypto'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { ChatChoice, ChatOutcome, ChatPiece } from '../../marketplace/chat/call.ts'
import type { ModelUsage } from '../../marketplace/ports/models.ts'
import type { COMPLETION, USAGE } from '../contract/chat.ts'
import type { Static } from '../contract/schema.ts'

/** Members that all events of one answer share. */
export interface CompletionHead {
  /** `chatcmpl-...` */
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
}

/** The head of a new answer. */
export function newHead(clock: Clock, model: string): CompletionHead {
  return { id: `chatcmpl-${randomUUID().replaceAll('-', '')}`, created: Math.floor(clock.now() / 1_000), model }
}

/** Token counts under OpenAI's names. */
export function usageJson({ promptTokens, completionTokens, totalTokens }: ModelUsage): Static<typeof USAGE> {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens }
}

/** Header that marks estimated token counts. A stream has none: its headers are sent before the counts are known. */
export function usageHeaders({ estimated }: ModelUsage): Readonly<Record<string, string>> {
  return estimated ? { 'x-usage-estimated': 'true' } : {}
}

/** A whole answer. */
export function completionJson(
  { id, created, model }: CompletionHead,
  { choices, usage, report }: ChatOutcome,
): Static<typeof COMPLETION> {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: choices.map(({ message: { role: _, ...message }, finishReason, logprobs }, index) => ({
      index,
      message: { role: 'assistant', content: null, refusal: null, ...message },
      logprobs,
      finish_reason: finishReason,
    })),
    usage: usageJson(usage),
    x_platform: report,
  }
}

/** Makes the events of an answer that is streamed. */
export class CompletionEvents {
  readonly #head: CompletionHead
  readonly tellsUsage: boolean
  readonly #begun = new Set<number>()

  constructor(head: CompletionHead, tellsUsage: boolean) {
    this.#head = head
    this.tellsUsage = tellsUsage
  }

  /** Events of a piece. The role comes once per choice; an empty piece makes no event of its own. */
  piece({ index, delta: { role: _, ...delta }, logprobs = null }: ChatPiece): string {
    const opening = this.#opening(index)
    if (Object.keys(delta).length === 0 && logprobs === null) return opening
    return opening + this.#event([{ index, delta, logprobs, finish_reason: null }])
  }

  /** `more` goes beside the report. */
  end({ choices, usage, report }: ChatOutcome, more: object = {}): string {
    const last = choices.length - 1
    const ends = choices.map(
      (choice, index) =>
        this.#opening(index) + this.#end(choice, index, index === last ? { x_platform: report, ...more } : {}),
    )
    const told = this.tellsUsage ? event({ ...this.#frame([]), usage: usageJson(usage) }) : ''
    return `${ends.join('')}${told}data: [DONE]\n\n`
  }

  #end({ finishReason }: ChatChoice, index: number, more: object): string {
    return this.#event([{ index, delta: {}, logprobs: null, finish_reason: finishReason }], more)
  }

  #opening(index: number): string {
    if (this.#begun.has(index)) return ''
    this.#begun.add(index)
    const delta = { role: 'assistant', content: '', refusal: null }
    return this.#event([{ index, delta, logprobs: null, finish_reason: null }])
  }

  #event(choices: readonly object[], more: object = {}): string {
    return event({ ...this.#frame(choices), ...(this.tellsUsage && { usage: null }), ...more })
  }

  #frame(choices: readonly object[]): object {
    const { id, created, model } = this.#head
    return { id, object: 'chat.completion.chunk', created, model, choices }
  }
}

/** One event of the stream. */
export function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
