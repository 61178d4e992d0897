import type { DeltaSink } from './backend.ts'

/** Pieces that are held back at most before anything was said. */
const HELD_MAX = 64

/**
 * Holds back the pieces of an answer until one says something. Until then the answer can be asked for elsewhere, and nobody
 * has seen that it was begun.
 */
export class HeldSink {
  readonly #sink: DeltaSink
  readonly #onBegin: () => void
  #held: Parameters<DeltaSink>[] = []
  #began = false

  /** `onBegin` is called when something is said for the first time. */
  constructor(sink: DeltaSink, onBegin: () => void) {
    this.#sink = sink
    this.#onBegin = onBegin
  }

  /** Whether something was handed on: from here on there is no other answer. */
  get began(): boolean {
    return this.#began
  }

  /** Forgets what is held, for another try. */
  readonly reset = (): void => {
    this.#held = []
  }

  /** Takes the next piece. */
  readonly take: DeltaSink = async (...piece) => {
    if (!this.#began) {
      this.#held.push(piece)
      if (!saysSomething(piece[0]) && this.#held.length < HELD_MAX) return
      this.#began = true
      this.#onBegin()
      for (const held of this.#held.splice(0)) await this.#sink(...held)
      return
    }
    await this.#sink(...piece)
  }

  /** Hands on what is still held, at the end of a good answer. */
  async flush(): Promise<void> {
    this.#began = true
    for (const held of this.#held.splice(0)) await this.#sink(...held)
  }
}

/** Fields in which models speak, think or act. */
const SPOKEN = ['content', 'refusal', 'tool_calls', 'function_call', 'reasoning', 'reasoning_content', 'audio']

/** Whether there is more in a piece than who speaks; what servers of their own add to that says nothing. */
function saysSomething(delta: Readonly<Record<string, unknown>>): boolean {
  const isOpening = delta.role !== undefined
  return Object.entries(delta).some(([key, value]) => !isEmpty(value) && (!isOpening || SPOKEN.includes(key)))
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}
