import { addTo } from '../../consensus/primitives/counts.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import { turnAmong, type Waiter } from './turn.ts'

/**
 * Of so many places that free work and paid work share, how many free work may hold: one in four, and at least one, is kept for what
 * is paid. Where there is a single place, what is paid is next.
 */
export function freeOf(places: number): number {
  return Math.max(1, places - Math.max(1, Math.ceil(places / 4)))
}

/** Callers of whom it is known how long they had places. */
const SERVED_MAX = 1_024

/** How much free work is under way at once. */
export interface FreeBounds {
  readonly atOnce: number
  /** Of one who asks, and of one thing that is asked for. */
  readonly perWho: number
  readonly perWhat: number
}

/** Free work that wants a place. */
export interface FreeWish {
  readonly who: string
  readonly what: string
  /** Ends the wait for a place; work that was begun keeps its place until it is over. */
  readonly signal: AbortSignal
}

type WaitingWish = FreeWish & Waiter

/**
 * Where free work waits before it comes to what paid work needs as well: however much of it comes, only so much gets through at once,
 * and the rest of the places is left to what is paid. A free place goes to the caller who has the fewest, and among equals to the one
 * who had places for the shortest time. So callers take turns, however much work each has waiting. How many wait is bounded by who asks.
 *
 * Time is counted as in start-time fair queueing (Goyal, Vin and Cheng, 1996): work begins at the time that its caller has had, or
 * at which the last work began where that is later, so that a caller who was away saves up nothing.
 */
export class FreePlaces {
  readonly #bounds: FreeBounds
  readonly #now: () => number
  readonly #waiting = new Set<WaitingWish>()
  readonly #byWho = new Map<string, number>()
  readonly #byWhat = new Map<string, number>()
  /** Up to which time each has had places, ms. */
  readonly #hadMs = new LruMap<string, number>(SERVED_MAX)
  /** At which time the last work began, ms. */
  #beganMs = 0
  #inside = 0

  /** `now` is a clock that never goes back, ms. */
  constructor(bounds: FreeBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds
    this.#now = now
  }

  /** Does work in its turn; null where the signal came before its turn. */
  async run<T>(wish: FreeWish, work: () => Promise<T>): Promise<T | null> {
    if (wish.signal.aborted) return null
    if (this.#isFree(wish)) this.#count(wish, 1)
    else if (!(await turnAmong(this.#waiting, wish, wish.signal))) return null
    const startedMs = this.#now()
    const beganMs = this.#beginOf(wish)
    this.#beganMs = beganMs
    try {
      return await work()
    } finally {
      const hadMs = Math.max(beganMs, this.#hadMs.get(wish.who) ?? 0)
      this.#hadMs.set(wish.who, hadMs + this.#now() - startedMs)
      this.#count(wish, -1)
      this.#startNext()
    }
  }

  /** An end can make room for two: one who waits for a place of its own, and one for a place by what is asked for. */
  #startNext(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      this.#count(next, 1)
      next.start()
    }
  }

  #isFree({ who, what }: FreeWish): boolean {
    const { atOnce, perWho, perWhat } = this.#bounds
    const isRoom = this.#inside < atOnce && (this.#byWhat.get(what) ?? 0) < perWhat
    return isRoom && (this.#byWho.get(who) ?? 0) < perWho
  }

  #next(): WaitingWish | null {
    if (this.#inside >= this.#bounds.atOnce) return null
    let next: WaitingWish | null = null
    for (const one of this.#waiting) if (this.#isFree(one) && (next === null || this.#isBefore(one, next))) next = one
    return next
  }

  #isBefore(one: FreeWish, other: FreeWish): boolean {
    const more = this.#heldBy(one) - this.#heldBy(other)
    return more < 0 || (more === 0 && this.#beginOf(one) < this.#beginOf(other))
  }

  /** At which time work of a caller begins. */
  #beginOf({ who }: FreeWish): number {
    return Math.max(this.#beganMs, this.#hadMs.get(who) ?? 0)
  }

  #heldBy({ who }: FreeWish): number {
    return this.#byWho.get(who) ?? 0
  }

  #count({ who, what }: FreeWish, by: number): void {
    this.#inside += by
    addTo(this.#byWho, who, by)
    addTo(this.#byWhat, what, by)
  }
}
