import type { Timers } from '../../../consensus/chain/ports.ts'

/** Wakes whoever waits for something to have changed. */
export class Signal {
  readonly #timers: Timers
  #waiting: (() => void)[] = []

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Wakes all who wait now. */
  wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Waits until somebody wakes, so many ms at most. Look again afterwards: it may be either. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#timers.after(ms, resolve)
      this.#waiting.push(() => {
        cancel()
        resolve()
      })
    })
  }
}
