/** How many services run at once: more would only make each other late, and a late service is a refund. */
const WORK_AT_ONCE = 16

/** Places for running services, given in order of arrival. */
export class WorkSlots {
  #free = WORK_AT_ONCE
  readonly #queue: (() => void)[] = []

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
