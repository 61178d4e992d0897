import { LruMap } from '../../consensus/primitives/lru.ts'

/** Owners that are remembered for what they left before it was over, and how long. */
const LATE_MAX = 8_192
const LATE_MS = 3_600_000

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
  /** The share is over; `isUnfinished` where its owner broke off what it was taken for. */
  readonly leave: (isUnfinished?: boolean) => void
  /** So much of it is enough from now on. */
  readonly shrink: (size: number) => void
  /** Whether an owner found no room since it was taken. */
  readonly isInTheWay: () => boolean
  /** Whether its owner broke off another lately, or was too slow with one: then it is waited for no longer. */
  readonly wasLate: boolean
  /** From now on `end` is called where another owner needs the room, and the share is over; null takes that back. */
  readonly yields: (end: (() => void) | null) => void
  /**
   * From now on `end` is called where an owner needs the room while this share `isBehind` the pace that is expected of it, whoever has
   * most; the share is over then.
   */
  readonly yieldsIf: (isBehind: () => boolean, end: () => void) => void
}

interface Held {
  readonly owner: string
  size: number
  readonly wasLate: boolean
  sinceMs: number
  end: (() => void) | null
  behind: { readonly is: () => boolean; readonly end: () => void } | null
}

type Ends = ReadonlyMap<Held, () => void>

/**
 * Room that owners share, and that a slow one would hold for long. If there is none left for a newcomer, shares that may be ended are
 * ended until there is: first those that are behind their pace, then the oldest one of the owner who has most. That owner must still
 * have as much as the newcomer afterwards, so that a share that keeps its pace is never ended only to give another owner the same.
 */
export class SharedRoom {
  readonly #bounds: RoomBounds
  readonly #now: () => number
  readonly #held = new Set<Held>()
  /** When owners were late last: a new share must not be left alone for a while as often as an owner takes one. */
  readonly #late = new LruMap<string, number>(LATE_MAX)
  /** When an owner found no room last. */
  #refusedMs = Number.NEGATIVE_INFINITY

  /** `now` is a clock that never goes back, ms. */
  constructor(bounds: RoomBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds
    this.#now = now
  }

  /** A share of so much room; null where there is none, and then none is ended. `leave` may be called more than once. */
  enter(owner: string, size: number): Share | null {
    const { max, ownMax } = this.#bounds
    const own = this.#of(owner) + size
    if (own > ownMax) return null
    const ends = new Map<Held, () => void>()
    while (this.#sum(this.#heldBut(ends)) + size > max) {
      const next = this.#behind(ends) ?? this.#toEnd(own, ends)
      if (next === undefined) {
        this.#refusedMs = this.#now()
        return null
      }
      ends.set(...next)
    }
    for (const [held, end] of ends) {
      this.#held.delete(held)
      // One that was waited for no longer has not been late once more by that.
      if (!held.wasLate && held.behind?.is() === true) this.#late.set(held.owner, this.#now())
      end()
    }
    const wasLate = this.#now() - (this.#late.get(owner) ?? Number.NEGATIVE_INFINITY) < LATE_MS
    const enteredMs = this.#now()
    const held: Held = { owner, size, wasLate, sinceMs: 0, end: null, behind: null }
    this.#held.add(held)
    return {
      wasLate,
      isInTheWay: () => this.#refusedMs >= enteredMs,
      shrink: (enough) => Object.assign(held, { size: Math.min(held.size, enough) }),
      leave: (isUnfinished = false) => {
        if (this.#held.delete(held) && isUnfinished) this.#late.set(owner, this.#now())
      },
      yields: (end) => Object.assign(held, { end, sinceMs: this.#now() }),
      yieldsIf: (is, end) => Object.assign(held, { behind: { is, end } }),
    }
  }

  /** The oldest share that is behind its pace. */
  #behind(but: Ends): readonly [Held, () => void] | undefined {
    const held = this.#heldBut(but).find(({ behind }) => behind?.is() === true)
    return held?.behind ? [held, held.behind.end] : undefined
  }

  /** What makes room for an owner who has so much then. */
  #toEnd(own: number, but: Ends): readonly [Held, () => void] | undefined {
    const endMs = this.#now() - this.#bounds.patienceMs
    const open = this.#heldBut(but).filter(({ owner, size, end, sinceMs }) => {
      return end !== null && sinceMs <= endMs && this.#of(owner, but) - size >= own
    })
    const of = (held: Held): number => this.#of(held.owner, but)
    const [held] = open.toSorted((a, b) => of(b) - of(a) || a.sinceMs - b.sinceMs)
    return held?.end ? [held, held.end] : undefined
  }

  #of(owner: string, but?: Ends): number {
    return this.#sum(this.#heldBut(but).filter((held) => held.owner === owner))
  }

  #heldBut(but?: Ends): readonly Held[] {
    return [...this.#held].filter((held) => !but?.has(held))
  }

  #sum(held: readonly Held[]): number {
    return held.reduce((sum, { size }) => sum + size, 0)
  }
}
