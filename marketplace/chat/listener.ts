import type { DeltaSink } from './models/backend.ts'

/** Passes on the pieces of an answer, and records its text. */
export class Listener {
  text = ''
  /** False once a piece had tool calls. */
  isPlain = true
  readonly #sink: DeltaSink

  constructor(sink: DeltaSink) {
    this.#sink = sink
  }

  readonly take: DeltaSink = (delta, logprobs) => {
    const { content, tool_calls: calls } = delta
    if (typeof content === 'string') this.text += content
    if (calls !== undefined && calls !== null) this.isPlain = false
    return this.#sink(delta, logprobs)
  }
}
