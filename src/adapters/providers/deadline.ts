import type { Timers } from '../../../consensus/chain/ports.ts'

/** A time limit. Its signal is aborted when the time is over or the parent signal is aborted. */
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

  /** Also aborts work that is still running. */
  end(): void {
    this.#abort()
    this.#cancel()
    this.#parent?.removeEventListener('abort', this.#abort)
  }
}

/** Null once the signal is aborted. The listener is removed, because the signal may live long. */
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
