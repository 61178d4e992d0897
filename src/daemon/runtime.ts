import { setImmediate } from 'node:timers/promises'
import type { Clock, Pacer, Timers } from '../../consensus/chain/ports.ts'

/** Longest time of chain work on the main thread before other work gets a turn. */
const SLICE_MS = 4

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() }

/** Timers that do not keep the process alive. */
export const systemTimers: Timers = {
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** Each stream of work needs a pacer of its own. */
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
