import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import type { BackendLimits } from './backend.ts'
import { TokenBucket } from './token-bucket.ts'

/** Requests that wait for one backend at most, for each that it takes at once. */
export const WAITING_PER_PLACE = 8
/** Most that wait for one backend. */
export const WAITING_MAX = 256

/** Leave to ask a backend, to be given back once, with the tokens that were used in the end (null: unknown). */
export type Leave = (usedTokens: number | null) => void

interface Waiting {
  readonly tokens: number
  readonly enter: (leave: Leave) => void
}

/** Lets requests to one backend as its limits allow: in the order of their coming, and only so many wait. */
export class Admission {
  readonly #places: number
  readonly #requests: TokenBucket | null
  readonly #tokens: TokenBucket | null
  readonly #clock: Clock
  readonly #timers: Timers
  #waiting: readonly Waiting[] = []
  #inside = 0
  #alarm: (() => void) | null = null

  constructor({ rpm, tpm, concurrency }: BackendLimits, clock: Clock, timers: Timers) {
    this.#places = concurrency
    this.#requests = rpm === null ? null : new TokenBucket(rpm, clock.now())
    this.#tokens = tpm === null ? null : new TokenBucket(tpm, clock.now())
    this.#clock = clock
    this.#timers = timers
  }

  /** Requests that are asked now. */
  get inside(): number {
    return this.#inside
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Leave to ask right now, null where it would take waiting. */
  tryEnter(tokens: number): Leave | null {
    return this.#waiting.length === 0 && this.#waitMs(tokens) === 0 ? this.#enter(tokens) : null
  }

  /** Waits for its turn. `full` where too many wait already, `aborted` where the signal came first. */
  async enter(tokens: number, signal: AbortSignal): Promise<Leave | 'full' | 'aborted'> {
    if (signal.aborted) return 'aborted'
    const now = this.tryEnter(tokens)
    if (now !== null) return now
    if (this.#waiting.length >= Math.min(WAITING_MAX, this.#places * WAITING_PER_PLACE)) return 'full'
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        resolve('aborted')
        this.#admitNext()
      }
      const enter = (leave: Leave): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(leave)
      }
      const waiting: Waiting = { tokens, enter }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting = [...this.#waiting, waiting]
      this.#admitNext()
    })
  }

  #enter(tokens: number): Leave {
    const nowMs = this.#clock.now()
    this.#inside += 1
    this.#requests?.take(1, nowMs)
    this.#tokens?.take(tokens, nowMs)
    let isInside = true
    return (usedTokens) => {
      if (!isInside) return
      isInside = false
      this.#inside -= 1
      if (usedTokens !== null) this.#tokens?.take(usedTokens - tokens, this.#clock.now())
      this.#admitNext()
    }
  }

  /** How long a request must wait for its turn at least; endless where all places are taken. */
  #waitMs(tokens: number): number {
    if (this.#inside >= this.#places) return Number.POSITIVE_INFINITY
    const nowMs = this.#clock.now()
    return Math.max(this.#requests?.waitMs(1, nowMs) ?? 0, this.#tokens?.waitMs(tokens, nowMs) ?? 0)
  }

  #admitNext(): void {
    this.#alarm?.()
    this.#alarm = null
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const waitMs = this.#waitMs(first.tokens)
      if (waitMs > 0) {
        // Where all places are taken, whoever leaves looks again.
        if (Number.isFinite(waitMs)) this.#alarm = this.#timers.after(waitMs, () => this.#admitNext())
        return
      }
      this.#waiting = this.#waiting.slice(1)
      first.enter(this.#enter(first.tokens))
    }
  }
}
