import { setImmediate } from 'node:timers/promises'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'

interface Alarm {
  readonly atMs: number
  readonly ms: number
  readonly callback: () => void
}

/** A clock and its timers, moved by the test. */
export class ManualTime implements Clock, Timers {
  /** Lengths of the timers that went off, in order. */
  readonly waits: number[] = []
  #nowMs = 0
  #alarms: readonly Alarm[] = []

  now(): number {
    return this.#nowMs
  }

  after(ms: number, callback: () => void): () => void {
    const alarm = { atMs: this.#nowMs + ms, ms, callback }
    this.#alarms = [...this.#alarms, alarm]
    return () => {
      this.#alarms = this.#alarms.filter((one) => one !== alarm)
    }
  }

  /** Lets time pass and runs the timers that are due meanwhile. */
  pass(ms: number): void {
    const endMs = this.#nowMs + ms
    for (let next = this.#next(); next !== undefined && next.atMs <= endMs; next = this.#next()) this.#ring(next)
    this.#nowMs = endMs
  }

  /** Lets time pass. After each timer, lets the event loop turn once. */
  async passAll(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    for (let next = this.#next(); next !== undefined && next.atMs <= endMs; next = this.#next()) {
      this.#ring(next)
      await setImmediate()
    }
    this.#nowMs = endMs
    await setImmediate()
  }

  /** Runs timers until a piece of work is done. Throws after a thousand steps. */
  async runUntil<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    const done = work.finally(() => {
      isDone = true
    })
    for (let idle = 0; idle < 1_000; idle++) {
      await setImmediate()
      if (isDone) return done
      const next = this.#next()
      if (next !== undefined) this.#ring(next)
    }
    throw new Error('the work waits for something that does not come')
  }

  #next(): Alarm | undefined {
    return this.#alarms.toSorted((one, other) => one.atMs - other.atMs)[0]
  }

  #ring(alarm: Alarm): void {
    this.#alarms = this.#alarms.filter((one) => one !== alarm)
    this.#nowMs = Math.max(this.#nowMs, alarm.atMs)
    this.waits.push(alarm.ms)
    alarm.callback()
  }
}
