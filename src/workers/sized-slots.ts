interface Waiting {
  readonly size: number
  readonly begin: () => void
}

/**
 * Places for work, given to the smallest that waits, of equal ones to the first: what costs much is large, and a few of that must
 * not make many others late. Who waits is bounded by who asks.
 */
export class SizedSlots {
  #free: number
  #waiting: readonly Waiting[] = []

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Runs work of a size (any unit, the same for all) as soon as there is a place for it. */
  async run<T>(size: number, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((begin) => this.#wait({ size, begin }))
    try {
      return await work()
    } finally {
      const [next, ...others] = this.#waiting
      this.#waiting = others
      if (next === undefined) this.#free += 1
      else next.begin()
    }
  }

  #wait(one: Waiting): void {
    const larger = this.#waiting.findIndex(({ size }) => size > one.size)
    this.#waiting = this.#waiting.toSpliced(larger < 0 ? this.#waiting.length : larger, 0, one)
  }
}
