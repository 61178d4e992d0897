import { LruMap } from '../../consensus/primitives/lru.ts'

/** Late owners that are remembered. */
const LATE_MAX = 8_192
/** How long an owner stays late. */
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
  /** The share is over. Its owner is late from now on where it `isUnfinished`: broken off by the owner. */
  readonly leave: (isUnfinished?: boolean) => void
  /** The share needs no more than `size` from now on. */
  readonly shrink: (size: number) => void
  /** Whether another share was refused for lack of room since this one was taken. */
  readonly isInTheWay: () => boolean
  /** Whether its owner was late when it was taken. Then it gets no time in which it may be behind its pace. */
  readonly wasLate: boolean
  /** From now on `end` is called where another owner needs the room, and the share is over; null takes that back. */
  readonly yields: (end: (() => void) | null) => void
  /**
   * From now on `end` is called where any owner needs the room while `isBehind` is true, however little this owner has. The share is
   * over then, and its owner is late.
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

/** A share that makes room for another, and what tells its owner. */
interface Ended {
  readonly held: Held
  readonly end: () => void
  readonly isBehind: boolean
}

/**
 * Room that owners share, and that a slow one would hold for long. If there is none left for a newcomer, shares that may be ended are
 * ended until there is: first those that are behind their pace, then the oldest one of the owner who has most. That owner must still
 * have as much as the newcomer afterwards, so that a share that keeps its pace is never ended only to give another owner the same.
 */
export class SharedRoom {
  readonly #bounds: RoomBounds
  readonly #now: () => number
  readonly #held = new Set<Held>()
  /** When owners became late. Without that, an owner would have the time of a new share again with each that it takes. */
  readonly #late = new LruMap<string, number>(LATE_MAX)
  #refusedMs = Number.NEGATIVE_INFINITY

  /** `now` is a clock that never goes back, ms. */
  constructor(bounds: RoomBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds
    this.#now = now
  }

  /** A share of so much room; null where there is none, and then no other is ended. `leave` may be called more than once. */
  enter(owner: string, size: number): Share | null {
    const nowMs = this.#now()
    const ended = this.#roomFor(owner, size)
    if (ended === null) return null
    for (const { held, end, isBehind } of ended) {
      this.#held.delete(held)
      // It was given no time to catch up, so that being behind makes it no later.
      if (isBehind && !held.wasLate) this.#late.set(held.owner, nowMs)
      end()
    }
    const wasLate = nowMs - (this.#late.get(owner) ?? Number.NEGATIVE_INFINITY) < LATE_MS
    const held: Held = { owner, size, wasLate, sinceMs: 0, end: null, behind: null }
    this.#held.add(held)
    return {
      wasLate,
      isInTheWay: () => this.#refusedMs >= nowMs,
      shrink: (enough) => Object.assign(held, { size: Math.min(held.size, enough) }),
      leave: (isUnfinished = false) => {
        if (this.#held.delete(held) && isUnfinished) this.#late.set(owner, this.#now())
      },
      yields: (end) => Object.assign(held, { end, sinceMs: this.#now() }),
      yieldsIf: (is, end) => Object.assign(held, { behind: { is, end } }),
    }
  }

  /** The shares to end so that there is room for one more; null where even that is not enough. */
  #roomFor(owner: string, size: number): readonly Ended[] | null {
    const { max, ownMax } = this.#bounds
    const left = new Set(this.#held)
    const sizes = new Map<string, number>()
    const count = (held: Held, by: number): void => void sizes.set(held.owner, (sizes.get(held.owner) ?? 0) + by)
    for (const held of left) count(held, held.size)
    let total = [...left].reduce((sum, held) => sum + held.size, 0)
    const own = (sizes.get(owner) ?? 0) + size
    if (own > ownMax) return null
    const ended: Ended[] = []
    while (total + size > max) {
      const next = behindIn(left) ?? this.#inTurn(left, sizes, own)
      if (next === undefined) {
        this.#refusedMs = this.#now()
        return null
      }
      ended.push(next)
      left.delete(next.held)
      count(next.held, -next.held.size)
      total -= next.held.size
    }
    return ended
  }

  /** What makes room for an owner who has so much then. */
  #inTurn(left: ReadonlySet<Held>, sizes: ReadonlyMap<string, number>, own: number): Ended | undefined {
    const endMs = this.#now() - this.#bounds.patienceMs
    const sizeOf = ({ owner }: Held): number => sizes.get(owner) as number
    const open = [...left].filter(
      (held) => held.end !== null && held.sinceMs <= endMs && sizeOf(held) - held.size >= own,
    )
    const [held] = open.toSorted((a, b) => sizeOf(b) - sizeOf(a) || a.sinceMs - b.sinceMs)
    return held?.end ? { held, end: held.end, isBehind: false } : undefined
  }
}

/** The oldest share that is behind its pace. */
function behindIn(left: ReadonlySet<Held>): Ended | undefined {
  for (const held of left) if (held.behind?.is()) return { held, end: held.behind.end, isBehind: true }
  return undefined
}
