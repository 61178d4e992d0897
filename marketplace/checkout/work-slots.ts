/** How many services of one kind run at once: more would only make each other late, and a late service is a refund. */
const WORK_AT_ONCE = 16

interface Waiter {
  readonly who: string
  readonly start: () => void
}

/**
 * Places for work, as many as for running services unless said. A free place goes to whoever has the fewest at the time, and
 * among those to who came first: one who comes with a hundred calls makes itself wait, not everybody behind.
 */
export class WorkSlots {
  #free: number
  readonly #queue: Waiter[] = []
  readonly #held = new Map<string, number>()

  constructor(atOnce: number = WORK_AT_ONCE) {
    this.#free = atOnce
  }

  /** Runs work as soon as there is a place for it; `who` it is done for counts all its places together. */
  async run<T>(work: () => Promise<T>, who = ''): Promise<T> {
    if (this.#free > 0) {
      this.#free -= 1
      this.#take(who)
    } else await new Promise<void>((start) => this.#queue.push({ who, start }))
    try {
      return await work()
    } finally {
      const left = this.#heldBy(who) - 1
      if (left === 0) this.#held.delete(who)
      else this.#held.set(who, left)
      this.#pass()
    }
  }

  #take(who: string): void {
    this.#held.set(who, this.#heldBy(who) + 1)
  }

  #heldBy(who: string): number {
    return this.#held.get(who) ?? 0
  }

  #pass(): void {
    let next: Waiter | undefined
    for (const waiter of this.#queue)
      if (next === undefined || this.#heldBy(waiter.who) < this.#heldBy(next.who)) next = waiter
    if (next === undefined) {
      this.#free += 1
      return
    }
    this.#queue.splice(this.#queue.indexOf(next), 1)
    this.#take(next.who)
    next.start()
  }
}
