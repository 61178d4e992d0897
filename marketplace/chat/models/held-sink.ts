import type { DeltaSink } from './backend.ts'

const HELD_MAX = 64

/**
 * Holds pieces back until one says something, or {@link HELD_MAX} are held. Until then another backend can start the
 * answer again unnoticed.
 */
export class HeldSink {
  readonly #sink: DeltaSink
  readonly #onBegin: () => void
  #held: Parameters<DeltaSink>[] = []
  #began = false

  /** `onBegin` is called before the first piece. */
  constructor(sink: DeltaSink, onBegin: () => void) {
    this.#sink = sink
    this.#onBegin = onBegin
  }

  /** Once true, the answer can no longer be replaced. */
  get began(): boolean {
    return this.#began
  }

  /** Drops the held pieces before another attempt. */
  readonly reset = (): void => {
    this.#held = []
  }

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

  /** To be called at the end of a good answer. */
  async flush(): Promise<void> {
    this.#began = true
    for (const held of this.#held.splice(0)) await this.#sink(...held)
  }
}

const SPOKEN = ['content', 'refusal', 'tool_calls', 'function_call', 'reasoning', 'reasoning_content', 'audio']

/** Servers add fields of their own to a piece with a role, so there only {@link SPOKEN} counts. */
function saysSomething(delta: Readonly<Record<string, unknown>>): boolean {
  const isOpening = delta.role !== undefined
  return Object.entries(delta).some(([key, value]) => !isEmpty(value) && (!isOpening || SPOKEN.includes(key)))
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}
