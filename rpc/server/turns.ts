import { setImmediate } from 'node:timers/promises'

/** Time in one turn of the event loop in which queued pieces of work may begin. */
const TURN_MS = 8

/** Spreads small pieces of work over the turns of the event loop, so that other requests are served in between. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #running = false

  /** First come, first served. Resolves or rejects as the work does. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
      if (!this.#running) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) {
      await setImmediate()
      const endMs = performance.now() + TURN_MS
      do this.#waiting.shift()?.()
      while (this.#waiting.length > 0 && performance.now() < endMs)
    }
    this.#running = false
  }
}
