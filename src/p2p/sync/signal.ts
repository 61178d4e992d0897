import type { Timers } from '../../../consensus/chain/ports.ts'

/** Wakes callers that wait for a change. */
export class Signal {
  readonly #timers: Timers
  readonly #waiting = new Set<() => void>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  wake(): void {
    for (const resolve of [...this.#waiting]) resolve()
  }

  /** Waits for `wake`, at most this long. The caller must look again, since it cannot tell whether `wake` was called. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel()
        this.#waiting.delete(done)
        resolve()
      }
      const cancel = this.#timers.after(ms, done)
      this.#waiting.add(done)
    })
  }
}
