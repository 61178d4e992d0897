/** Milliseconds since 1970. */
export interface Clock {
  now(): number
}

/** Splits work on the main thread into short slices. */
export interface Pacer {
  /** Whether the current slice is used up. */
  due(): boolean
  pause(): Promise<void>
}

/** Delayed calls. */
export interface Timers {
  /** Calls back once, unless the returned function is called first. */
  after(ms: number, callback: () => void): () => void
}

/** Runs a generator to its end; pauses whenever the slice is used up. */
export async function runPaced<T>(steps: Generator<void, T>, pacer: Pacer): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (pacer.due()) await pacer.pause()
  }
}

/** A pacer that never pauses: for tools and tests that own their thread. */
export const UNPACED: Pacer = { due: () => false, pause: () => Promise.resolve() }
