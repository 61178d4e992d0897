/** The local clock, in milliseconds since 1970. */
export interface Clock {
  now(): number
}

/** Keeps work on the main thread in short slices. */
export interface Pacer {
  /** Whether the current slice is used up. */
  due(): boolean
  /** Lets everything else run, then begins a new slice. */
  pause(): Promise<void>
}

/** Runs things later. */
export interface Timers {
  /** Calls back once after a while, unless the returned function is called before. */
  after(ms: number, callback: () => void): () => void
}

/** Runs a stepwise computation to its end, pausing whenever the slice is used up. */
export async function runPaced<T>(steps: Generator<void, T>, pacer: Pacer): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (pacer.due()) await pacer.pause()
  }
}

/** A pacer that never pauses: for tools and tests that own their thread. */
export const UNPACED: Pacer = { due: () => false, pause: () => Promise.resolve() }
