interface Waiting {
  readonly size: number
  readonly begin: () => void
}

/**
 * Places for work. The smallest waiting work goes first, and of equal sizes the earliest: large work is slow, and a few
 * large pieces must not delay many small ones. The queue is bounded by its callers, and waiting ends with their
 * signals.
 */
export class SizedSlots {
  #free: number
  #waiting: readonly Waiting[] = []

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Runs work of a size (any unit, the same for all) when it gets a place; null if the signal was aborted first. */
  async run<T>(size: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T | null> {
    if (this.#free > 0) this.#free -= 1
    else if (!(await this.#turn(size, signal))) return null
    try {
      return await work()
    } finally {
      const [next, ...others] = this.#waiting
      this.#waiting = others
      if (next === undefined) this.#free += 1
      else next.begin()
    }
  }

  /** Aborted waiting work is dropped at once, because it holds its input in memory. */
  #turn(size: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== one)
        resolve(false)
      }
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp)
        resolve(true)
      }
      const one = { size, begin }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#wait(one)
    })
  }

  #wait(one: Waiting): void {
    const larger = this.#waiting.findIndex(({ size }) => size > one.size)
    this.#waiting = this.#waiting.toSpliced(larger < 0 ? this.#waiting.length : larger, 0, one)
  }
}
