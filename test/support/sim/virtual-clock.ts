import { setImmediate } from 'node:timers/promises'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { Heap } from '../../../mempool/heap.ts'

interface VirtualEvent {
  readonly atMs: number
  /** Events of one moment run in the order in which they were scheduled. */
  readonly order: number
  run: (() => void) | undefined
}

/**
 * The one clock of a simulated world. Only events that were scheduled here happen. After each event all promises that
 * can settle do so before the next event. So a run depends only on its inputs.
 */
export class VirtualTime {
  readonly #events = new Heap<VirtualEvent>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order))
  #order = 0
  #happened = 0
  #nowMs: number
  readonly #settled: (() => Promise<void>) | undefined

  /** `settled` resolves when no real input or output is under way: no time passes before that. */
  constructor(startMs: number, settled?: () => Promise<void>) {
    this.#nowMs = startMs
    this.#settled = settled
  }

  /** Milliseconds, with fractions. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** How many events have run. */
  get happened(): number {
    return this.#happened
  }

  /** Runs `run` after some milliseconds. The returned function cancels it. */
  after(ms: number, run: () => void): () => void {
    const event: VirtualEvent = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, run }
    this.#events.push(event)
    return () => {
      event.run = undefined
    }
  }

  /** Lets time pass up to a moment. */
  async passUntil(endMs: number): Promise<void> {
    await setImmediate()
    for (let next = this.#events.peek(); next !== undefined && next.atMs <= endMs; next = this.#events.peek()) {
      this.#events.pop()
      if (next.run === undefined) continue
      this.#nowMs = next.atMs
      this.#happened++
      next.run()
      // All microtasks run before an immediate does, also those that microtasks start.
      await setImmediate()
      await this.#settled?.()
    }
    this.#nowMs = Math.max(this.#nowMs, endMs)
  }

  /** Lets time pass. */
  pass(ms: number): Promise<void> {
    return this.passUntil(this.#nowMs + ms)
  }
}

/** How a node's own clock differs from the true time. */
export interface Skew {
  readonly offsetMs: number
  /** How much faster it runs, in parts per million. */
  readonly driftPpm: number
}

/** The clock and the timers of a running node. They end with it. */
export class NodeTime implements Clock, Timers {
  readonly #time: VirtualTime
  readonly #skew: Skew
  readonly #startMs: number
  #over = false

  constructor(time: VirtualTime, skew: Skew, startMs: number) {
    this.#time = time
    this.#skew = skew
    this.#startMs = startMs
  }

  now(): number {
    const { offsetMs, driftPpm } = this.#skew
    return Math.floor(this.#time.nowMs + offsetMs + ((this.#time.nowMs - this.#startMs) * driftPpm) / 1_000_000)
  }

  after(ms: number, callback: () => void): () => void {
    return this.#time.after(ms / (1 + this.#skew.driftPpm / 1_000_000), () => {
      if (!this.#over) callback()
    })
  }

  /** Ends all timers: the node is gone. */
  end(): void {
    this.#over = true
  }
}
