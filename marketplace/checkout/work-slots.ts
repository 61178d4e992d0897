/** How many services of one kind run at once: more would only make each other late, and a late service is a refund. */
const WORK_AT_ONCE = 16

interface Waiter {
  readonly who: string
  readonly start: () => void
  readonly refuse: () => void
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
  run<T>(work: () => Promise<T>, who = ''): Promise<T> {
    return this.runUnlessFull(work, who, Number.POSITIVE_INFINITY) as Promise<T>
  }

  /**
   * The same where so many wait at most. Null where too many do, or where who has the most of them had to make room for others.
   */
  async runUnlessFull<T>(work: () => Promise<T>, who: string, waitingMax: number): Promise<T | null> {
    if (this.#free > 0) {
      this.#free -= 1
      this.#take(who)
    } else if (!(await this.#turn(who, waitingMax))) return null
    try {
      return await work()
    } finally {
      const left = this.#heldBy(who) - 1
      if (left === 0) this.#held.delete(who)
      else this.#held.set(who, left)
      this.#pass()
    }
  }

  /** False where it does not come. */
  async #turn(who: string, waitingMax: number): Promise<boolean> {
    if (this.#queue.length >= waitingMax && !this.#makeRoom(who)) return false
    return new Promise((resolve) => {
      this.#queue.push({ who, start: () => resolve(true), refuse: () => resolve(false) })
    })
  }

  /** Refuses the last call of the client with the most waiting, where those are more than the new client would have. */
  #makeRoom(who: string): boolean {
    const groups = Map.groupBy(this.#queue, (waiter) => waiter.who)
    const own = groups.get(who)?.length ?? 0
    const most = [...groups.values()].reduce((one, other) => (other.length > one.length ? other : one), [])
    if (most.length <= own + 1) return false
    const last = most.at(-1) as Waiter
    this.#queue.splice(this.#queue.indexOf(last), 1)
    last.refuse()
    return true
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
