import type { Timers } from '../../../consensus/chain/ports.ts'

/** Wakes whoever waits for something to have changed. */
export class Signal {
  readonly #timers: Timers
  readonly #waiting = new Set<() => void>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Wakes all who wait now. */
  wake(): void {
    for (const resolve of [...this.#waiting]) resolve()
  }

  /** Waits until somebody wakes, so many ms at most. Look again afterwards: it may be either. */
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
