import type { Timers } from '../../../consensus/chain/ports.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'

/** Timers that stop, as when a process is paused or its machine sleeps. */
export class StoppableTimers implements Timers {
  #waiting: (() => void)[] = []
  #stopped = false

  after(ms: number, callback: () => void): () => void {
    return systemTimers.after(ms, () => {
      if (this.#stopped) this.#waiting.push(callback)
      else callback()
    })
  }

  /** Nothing happens any more. */
  stop(): void {
    this.#stopped = true
  }

  /** Goes on, first with what was due meanwhile. */
  go(): void {
    this.#stopped = false
    for (const callback of this.#waiting.splice(0)) callback()
  }
}
