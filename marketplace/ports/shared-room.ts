import { LruMap } from '../../consensus/primitives/lru.ts'

const LATE_MAX = 8_192
/** An owner stays late for this long. */
const LATE_MS = 3_600_000

/** Limits of a {@link SharedRoom}. */
export interface RoomBounds {
  readonly max: number
  /** Most for one owner. */
  readonly ownMax: number
  /** A share that may be ended is left alone for this long, in ms. */
  readonly patienceMs: number
}

/** A part of a {@link SharedRoom}, held by an owner. */
export interface Share {
  /** With `isUnfinished` (the owner broke off its work) the owner counts as late. */
  readonly leave: (isUnfinished?: boolean) => void
  readonly shrink: (size: number) => void
  /** Whether another share was refused for lack of room since this one was taken. */
  readonly isInTheWay: () => boolean
  /** Whether the owner was late when it took the share. */
  readonly wasLate: boolean
  /** From here on the room may end the share for another owner, and then calls `end`. Null stops that. */
  readonly yields: (end: (() => void) | null) => void
  /**
   * From here on the room may end the share for any owner while `isBehind` gives true, however little its owner holds.
   * It then calls `end`, and the owner counts as late.
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

interface Ended {
  readonly held: Held
  readonly end: () => void
  readonly isBehind: boolean
}

/**
 * Room that several owners share, protected against slow owners. If a newcomer finds no room, shares are ended until
 * there is: first those that are behind their pace, then the oldest of the owner with most. That owner must still hold
 * at least as much as the newcomer afterwards, so that a share that keeps its pace is never ended only to give another
 * owner the same.
 */
export class SharedRoom {
  readonly #bounds: RoomBounds
  readonly #now: () => number
  readonly #held = new Set<Held>()
  /** Kept beyond the share, or an owner could be slow again with every new share. */
  readonly #late = new LruMap<string, number>(LATE_MAX)
  #refusedMs = Number.NEGATIVE_INFINITY

  /** `now` is a monotonic clock in ms. */
  constructor(bounds: RoomBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds
    this.#now = now
  }

  /** Null if there is no room; then no share is ended. `leave` may be called more than once. */
  enter(owner: string, size: number): Share | null {
    const nowMs = this.#now()
    const ended = this.#roomFor(owner, size)
    if (ended === null) return null
    for (const { held, end, isBehind } of ended) {
      this.#held.delete(held)
      // An owner that was already late got no time to catch up, so this does not count again.
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

  /** Null if ending shares would not make enough room. */
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

  /** `own` is what the newcomer would hold with its new share. Undefined if no share may be ended. */
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
