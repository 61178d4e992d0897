import { setImmediate } from 'node:timers/promises'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { Heap } from '../../../mempool/heap.ts'

interface VirtualEvent {
  readonly atMs: number
  /** Events of one moment happen in the order in which they were asked for. */
  readonly order: number
  run: (() => void) | undefined
}

/**
 * The one time of a simulated world. Nothing in it happens but what was asked for here; after each event every promise that
 * can settle is settled before the next one happens, so that a run depends on nothing but what it was begun with.
 */
export class VirtualTime {
  readonly #events = new Heap<VirtualEvent>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order))
  #order = 0
  #happened = 0
  #nowMs: number

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  /** Milliseconds, with fractions. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** Events so far. */
  get happened(): number {
    return this.#happened
  }

  /** Runs something in so many milliseconds; the returned function calls it off. */
  after(ms: number, run: () => void): () => void {
    const event: VirtualEvent = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, run }
    this.#events.push(event)
    return () => {
      event.run = undefined
    }
  }

  /** Lets time pass up to a moment, or until nothing is left to happen. */
  async passUntil(endMs: number): Promise<void> {
    await setImmediate()
    for (let next = this.#events.peek(); next !== undefined && next.atMs <= endMs; next = this.#events.peek()) {
      this.#events.pop()
      if (next.run === undefined) continue
      this.#nowMs = next.atMs
      this.#happened++
      next.run()
      // All microtasks, and those that they bring about, run before an immediate does; there is no real I/O in this world.
      await setImmediate()
    }
    this.#nowMs = Math.max(this.#nowMs, endMs)
  }

  /** Lets so much time pass. */
  pass(ms: number): Promise<void> {
    return this.passUntil(this.#nowMs + ms)
  }
}

/** How a node's own clock differs from the true time. */
export interface Skew {
  readonly offsetMs: number
  /** How much faster it runs, in parts of a million. */
  readonly driftPpm: number
}

/** One life of a node: its clock and its timers, which end with it. */
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

  /** The node is gone: none of its timers fires any more. */
  end(): void {
    this.#over = true
  }
}
