import { addTo } from '../../consensus/primitives/counts.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import { turnAmong, type Waiter } from './turn.ts'

/**
 * How many of `places` free work may hold at once. A quarter, rounded up, is kept for paid work. Free and paid work
 * share a single place.
 */
export function freeOf(places: number): number {
  return Math.max(1, places - Math.max(1, Math.ceil(places / 4)))
}

/** Most callers whose used time is remembered. */
const SERVED_MAX = 1_024

/** Limits of free work in progress. */
export interface FreeBounds {
  readonly atOnce: number
  /** Most tasks of one caller, and of one target (for example a host). */
  readonly perWho: number
  readonly perWhat: number
}

/** Free work that wants a place. */
export interface FreeWish {
  readonly who: string
  readonly what: string
  /** Ends the wait for a place. Work in progress keeps its place until it ends. */
  readonly signal: AbortSignal
}

type WaitingWish = FreeWish & Waiter

/**
 * A queue of free work for places that paid work needs too. An empty place goes to the caller with the fewest places,
 * and among equals to the caller with the least time used. So callers take turns, however much work each has waiting.
 * Users of this class must bound the number of waiting tasks. Time is counted as in start-time fair queueing (Goyal,
 * Vin and Cheng, 1996): a task starts at its caller's used time, or at the start time of the last task if that is
 * later. So a caller saves up no time while away.
 */
export class FreePlaces {
  readonly #bounds: FreeBounds
  readonly #now: () => number
  readonly #waiting = new Set<WaitingWish>()
  readonly #byWho = new Map<string, number>()
  readonly #byWhat = new Map<string, number>()
  /** Time that each caller has used. */
  readonly #hadMs = new LruMap<string, number>(SERVED_MAX)
  /** Start time of the last task. */
  #beganMs = 0
  #inside = 0

  /** `now` is a monotonic clock in ms. */
  constructor(bounds: FreeBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds
    this.#now = now
  }

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

  /** The end of one task may make room both for its caller and for its target. */
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
