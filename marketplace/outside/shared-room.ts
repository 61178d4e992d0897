/** How much room there is. */
export interface RoomBounds {
  readonly max: number
  /** Of one owner. */
  readonly ownMax: number
  /** How long what may be ended is left alone, ms. */
  readonly patienceMs: number
}

/** What an owner has of a room. */
export interface Share {
  readonly leave: () => void
  /** From now on `end` is called where another owner needs the room, and the share is over; null takes that back. */
  readonly yields: (end: (() => void) | null) => void
}

interface Held {
  readonly owner: string
  readonly size: number
  sinceMs: number
  end: (() => void) | null
}

/**
 * Room that owners share, and that a slow one would hold for long. If there is none left for a newcomer, a share that may be ended is
 * ended: the oldest one of the owner who has most. That owner must still have as much as the newcomer afterwards, so that a share is
 * never ended only to give another owner the same.
 */
export class SharedRoom {
  readonly #bounds: RoomBounds
  readonly #now: () => number
  readonly #held = new Set<Held>()

  /** `now` is a clock that never goes back, ms. */
  constructor(bounds: RoomBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds
    this.#now = now
  }

  /** A share of so much room; null where there is none. `leave` may be called more than once. */
  enter(owner: string, size: number): Share | null {
    const { max, ownMax } = this.#bounds
    const own = this.#of(owner) + size
    if (own > ownMax) return null
    while (this.#sum([...this.#held]) + size > max) {
      const last = this.#toEnd(own)
      if (last === undefined) return null
      this.#held.delete(last)
      last.end?.()
    }
    const held: Held = { owner, size, sinceMs: 0, end: null }
    this.#held.add(held)
    return {
      leave: () => void this.#held.delete(held),
      yields: (end) => Object.assign(held, { end, sinceMs: this.#now() }),
    }
  }

  /** What makes room for an owner who has so much then. */
  #toEnd(own: number): Held | undefined {
    const endMs = this.#now() - this.#bounds.patienceMs
    const open = [...this.#held].filter(({ owner, size, end, sinceMs }) => {
      return end !== null && sinceMs <= endMs && this.#of(owner) - size >= own
    })
    return open.toSorted((a, b) => this.#of(b.owner) - this.#of(a.owner) || a.sinceMs - b.sinceMs)[0]
  }

  #of(owner: string): number {
    return this.#sum([...this.#held].filter((held) => held.owner === owner))
  }

  #sum(held: readonly Held[]): number {
    return held.reduce((sum, { size }) => sum + size, 0)
  }
}
