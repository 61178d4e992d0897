import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { freeOf } from '../../ports/free-places.ts'
import type { BackendLimits } from './backend.ts'
import { TokenBucket } from './token-bucket.ts'

/** Most waiting requests for each concurrent slot. */
export const WAITING_PER_PLACE = 8
/** Most requests that wait for a backend. */
export const WAITING_MAX = 256

/** Gives a slot back, with the tokens that were used (null: unknown). Further calls do nothing. */
export type Leave = (usedTokens: number | null) => void

interface Waiting {
  readonly tokens: number
  readonly who: string | null
  readonly isFree: boolean
  readonly enter: (leave: Leave) => void
  readonly refuse: () => void
}

/**
 * Admits requests to one backend within its limits, with a bounded queue. Next is the caller with the fewest running
 * requests, among equals the one that waited longest, so that a caller with many requests delays only itself. Each
 * request of an unknown caller counts as a caller of its own. Free requests come after paid ones, and leave some slots
 * and queue places to them.
 */
export class Admission {
  readonly #places: number
  readonly #requests: TokenBucket | null
  readonly #tokens: TokenBucket | null
  readonly #clock: Clock
  readonly #timers: Timers
  #waiting: readonly Waiting[] = []
  #inside = 0
  #freeInside = 0
  readonly #insideOf = new Map<string, number>()
  #alarm: (() => void) | null = null

  constructor({ rpm, tpm, concurrency }: BackendLimits, clock: Clock, timers: Timers) {
    this.#places = concurrency
    this.#requests = rpm === null ? null : new TokenBucket(rpm, clock.now())
    this.#tokens = tpm === null ? null : new TokenBucket(tpm, clock.now())
    this.#clock = clock
    this.#timers = timers
  }

  get inside(): number {
    return this.#inside
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Null if the request would have to wait. */
  tryEnter(tokens: number, who: string | null = null, isFree = false): Leave | null {
    const isNext = this.#waiting.every((one) => one.isFree && !isFree)
    return isNext && this.#waitMs(tokens, isFree) === 0 ? this.#enter(tokens, who, isFree) : null
  }

  /** `full`: too many wait, or this request had to make room for another caller. `aborted`: the signal came first. */
  async enter(
    tokens: number,
    signal: AbortSignal,
    who: string | null = null,
    isFree = false,
  ): Promise<Leave | 'full' | 'aborted'> {
    if (signal.aborted) return 'aborted'
    const now = this.tryEnter(tokens, who, isFree)
    if (now !== null) return now
    if (this.#isFull(isFree) && !this.#makeRoom(who, isFree)) return 'full'
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        resolve('aborted')
        this.#admitNext()
      }
      const end = (how: Leave | 'full'): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(how)
      }
      const waiting: Waiting = { tokens, who, isFree, enter: end, refuse: () => end('full') }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting = [...this.#waiting, waiting]
      this.#admitNext()
    })
  }

  /** Free requests may use only a part of the queue. */
  #isFull(isFree: boolean): boolean {
    const max = Math.min(WAITING_MAX, this.#places * WAITING_PER_PLACE)
    const free = this.#waiting.filter((one) => one.isFree).length
    return this.#waiting.length >= max || (isFree && free >= freeOf(max))
  }

  /**
   * Refuses the last request of the caller with most waiting requests, unless the new caller would then have more than
   * that caller. Only requests of the same kind, free or paid, are compared.
   */
  #makeRoom(who: string | null, isFree: boolean): boolean {
    const counts = new Map<string, number>()
    const alike = this.#waiting.filter((one) => one.isFree === isFree)
    for (const one of alike) if (one.who !== null) counts.set(one.who, (counts.get(one.who) ?? 0) + 1)
    const [most, count] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0])
    if (count <= (who === null ? 0 : (counts.get(who) ?? 0)) + 1) return false
    const last = alike.findLast((one) => one.who === most)
    this.#waiting = this.#waiting.filter((one) => one !== last)
    last?.refuse()
    return true
  }

  #enter(tokens: number, who: string | null, isFree: boolean): Leave {
    const nowMs = this.#clock.now()
    this.#inside += 1
    if (isFree) this.#freeInside += 1
    this.#countInside(who, 1)
    this.#requests?.take(1, nowMs)
    this.#tokens?.take(tokens, nowMs)
    let isInside = true
    return (usedTokens) => {
      if (!isInside) return
      isInside = false
      this.#inside -= 1
      if (isFree) this.#freeInside -= 1
      this.#countInside(who, -1)
      if (usedTokens !== null) this.#tokens?.take(usedTokens - tokens, this.#clock.now())
      this.#admitNext()
    }
  }

  #countInside(who: string | null, by: number): void {
    if (who === null) return
    const count = (this.#insideOf.get(who) ?? 0) + by
    if (count > 0) this.#insideOf.set(who, count)
    else this.#insideOf.delete(who)
  }

  #next(): Waiting | undefined {
    const inside = ({ who }: Waiting): number => (who === null ? 0 : (this.#insideOf.get(who) ?? 0))
    const paid = this.#waiting.filter((one) => !one.isFree)
    const first = paid.length > 0 ? paid : this.#waiting
    let next = first[0]
    for (const one of first) if (next !== undefined && inside(one) < inside(next)) next = one
    return next
  }

  /** Infinite if no slot is free. */
  #waitMs(tokens: number, isFree: boolean): number {
    if (this.#inside >= this.#places) return Number.POSITIVE_INFINITY
    if (isFree && this.#freeInside >= freeOf(this.#places)) return Number.POSITIVE_INFINITY
    const nowMs = this.#clock.now()
    return Math.max(this.#requests?.waitMs(1, nowMs, isFree) ?? 0, this.#tokens?.waitMs(tokens, nowMs, isFree) ?? 0)
  }

  #admitNext(): void {
    this.#alarm?.()
    this.#alarm = null
    for (let first = this.#next(); first !== undefined; first = this.#next()) {
      const waitMs = this.#waitMs(first.tokens, first.isFree)
      if (waitMs > 0) {
        // If no slot is free, the next returned slot continues here.
        if (Number.isFinite(waitMs)) this.#alarm = this.#timers.after(waitMs, () => this.#admitNext())
        return
      }
      const entered = first
      this.#waiting = this.#waiting.filter((one) => one !== entered)
      entered.enter(this.#enter(entered.tokens, entered.who, entered.isFree))
    }
  }
}
