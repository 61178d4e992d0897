/** How many services of one kind run at once: more would only make each other late, and a late service is a refund. */
const WORK_AT_ONCE = 16

/** Places for work, as many as for running services unless said, given in order of arrival. */
export class WorkSlots {
  #free: number
  readonly #queue: (() => void)[] = []

  constructor(atOnce: number = WORK_AT_ONCE) {
    this.#free = atOnce
  }

  /** Runs work as soon as there is a place for it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#queue.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
