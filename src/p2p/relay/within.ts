import type { Timers } from '../../../consensus/chain/ports.ts'

/** The value of a promise, if it comes in time; undefined if it is late or fails. The work itself goes on. */
export function within<T>(timers: Timers, ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const cancel = timers.after(ms, () => resolve(undefined))
    const settle = (value: T | undefined): void => {
      cancel()
      resolve(value)
    }
    work.then(settle, () => settle(undefined))
  })
}

/** Waits for a while. */
export function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timers.after(ms, resolve)
  })
}
