interface Waiting {
  readonly size: number
  readonly begin: () => void
}

/**
 * Places for work, given to the smallest that waits, of equal ones to the first: what costs much is large, and a few of that must
 * not make many others late. Who waits is bounded by who asks, and waits no longer than that one does.
 */
export class SizedSlots {
  #free: number
  #waiting: readonly Waiting[] = []

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Runs work of a size (any unit, the same for all) as soon as there is a place for it; null where the signal came before. */
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

  /** What waits holds on to all that it is to work on: it is let go of as soon as it is given up. */
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
