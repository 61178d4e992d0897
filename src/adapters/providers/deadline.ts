import type { Timers } from '../../../consensus/chain/ports.ts'

/** A limit of time with a signal that is aborted when it is over, or when what it is part of is. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #cancel: () => void
  readonly #parent: AbortSignal | null
  readonly #abort = (): void => this.#controller.abort()

  constructor(timers: Timers, ms: number, parent: AbortSignal | null) {
    this.#cancel = timers.after(ms, this.#abort)
    this.#parent = parent
    if (parent?.aborted) this.#abort()
    else parent?.addEventListener('abort', this.#abort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Lets go of timer and listener, and ends whatever the work left under way. */
  end(): void {
    this.#abort()
    this.#cancel()
    this.#parent?.removeEventListener('abort', this.#abort)
  }
}

/**
 * What a promise comes to, or null as soon as the signal is aborted; the promise is then left to itself, and what it throws later is
 * nobody's. No listener stays behind, however long the signal lives.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  let abort = (): void => {}
  const aborted = new Promise<null>((resolve) => {
    abort = () => resolve(null)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
