import type { Clock } from '../../consensus/chain/ports.ts'

/** What is counted, and for how long it counts. */
export interface CountBounds {
  readonly most: number
  readonly withinMs: number
  /** Names that are remembered; those that were counted longest ago are forgotten first. */
  readonly namesMax: number
}

/** Counts what happened to whom lately, in bounded memory. */
export class RecentCounts {
  readonly #clock: Clock
  readonly #bounds: CountBounds
  readonly #timesMs = new Map<string, readonly number[]>()

  constructor(clock: Clock, bounds: CountBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Counts it once more. */
  add(name: string): void {
    const all = [...this.#recent(name), this.#clock.now()]
    this.#timesMs.delete(name)
    this.#timesMs.set(name, all.slice(-this.#bounds.most))
    if (this.#timesMs.size <= this.#bounds.namesMax) return
    const [oldest] = this.#timesMs.keys()
    this.#timesMs.delete(oldest as string)
  }

  /** How often it has happened to a name lately; `most` and more are the same. */
  count(name: string): number {
    return this.#recent(name).length
  }

  /** Milliseconds until it has happened to a name less often than is borne; 0 where that is so. `most` is no more than what is counted. */
  waitMs(name: string, most = this.#bounds.most): number {
    const recent = this.#recent(name)
    if (recent.length < most) return 0
    return Math.max(1, (recent[recent.length - most] as number) + this.#bounds.withinMs - this.#clock.now())
  }

  #recent(name: string): readonly number[] {
    const sinceMs = this.#clock.now() - this.#bounds.withinMs
    return (this.#timesMs.get(name) ?? []).filter((ms) => ms > sinceMs)
  }
}
