import { turnAmong, type Waiter } from '../../marketplace/ports/turn.ts'

/**
 * Places for work, given to the smallest that waits, of equal ones to the first: what costs much is large, and a few of that must
 * not make many others late. How many may wait is bounded by the caller, and each waits no longer than its caller does.
 */
export class SizedSlots {
  #free: number
  readonly #waiting = new Set<{ readonly size: number } & Waiter>()

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Runs work of a size (any unit, the same for all) as soon as there is a place for it; null where the signal came before. */
  async run<T>(size: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T | null> {
    if (this.#free > 0) this.#free -= 1
    else if (signal?.aborted || !(await turnAmong(this.#waiting, { size }, signal))) return null
    try {
      return await work()
    } finally {
      const next = this.#smallest()
      if (next === undefined) this.#free += 1
      else next.start()
    }
  }

  #smallest(): Waiter | undefined {
    let smallest: ({ readonly size: number } & Waiter) | undefined
    for (const one of this.#waiting) if (smallest === undefined || one.size < smallest.size) smallest = one
    return smallest
  }
}
