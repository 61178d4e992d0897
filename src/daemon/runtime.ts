import { setImmediate } from 'node:timers/promises'
import type { Clock, Pacer, Timers } from '../../consensus/chain/ports.ts'

/** Longest stretch of chain work on the main thread before everything else gets a turn. */
const SLICE_MS = 4

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }

/** The process's timers; none of them keeps the process alive. */
export const systemTimers: Timers = {
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** A pacer over the event loop, one for each stream of work. */
export function eventLoopPacer(): Pacer {
  let startedMs = performance.now()
  return {
    due: () => performance.now() - startedMs >= SLICE_MS,
    pause: async () => {
      await setImmediate()
      startedMs = performance.now()
    },
  }
}
