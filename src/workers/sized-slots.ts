import { turnAmong, type Waiter } from '../../marketplace/ports/turn.ts'

/**
 * The smallest waiting work gets the next slot, and of equal sizes the earliest: a few large pieces must not delay many small ones. The
 * callers bound the queue.
 */
export class SizedSlots {
  #free: number
  readonly #waiting = new Set<{ readonly size: number } & Waiter>()

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Runs work of a size (any unit, the same for all) when it gets a slot; null if the signal was aborted before that. */
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
