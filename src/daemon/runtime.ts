import { setImmediate } from 'node:timers/promises'
import type { Clock, Pacer, Timers } from '../../consensus/chain/ports.ts'

/** Longest time of chain work on the main thread before other work gets a turn. */
const SLICE_MS = 4

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() }

/** System timers. They do not keep the process alive. */
export const systemTimers: Timers = {
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** A pacer on the event loop. Each stream of work has its own. */
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
