import type { DeltaSink } from './models/backend.ts'

/** Hands on the pieces of an answer, and keeps what was said. */
export class Listener {
  /** Text that was said so far. */
  text = ''
  /** Whether nothing but text was said. */
  isPlain = true
  readonly #sink: DeltaSink

  constructor(sink: DeltaSink) {
    this.#sink = sink
  }

  /** Takes the next piece. */
  readonly take: DeltaSink = (delta, logprobs) => {
    const { content, tool_calls: calls } = delta
    if (typeof content === 'string') this.text += content
    if (calls !== undefined && calls !== null) this.isPlain = false
    return this.#sink(delta, logprobs)
  }
}
