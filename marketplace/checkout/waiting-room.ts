import type { Timers } from '../../consensus/chain/ports.ts'

/**
 * Calls that may wait at once, in all and for one payment. Waiting is free for whoever asks and holds a request open, so
 * beyond these an answer comes at once and says when to ask again.
 */
const WAITING_MAX = 256
const WAITING_PER_PAYMENT_MAX = 64

/** Calls that wait for the chain or for another call's work. */
export class WaitingRoom {
  readonly #timers: Timers
  readonly #counts = new Map<string, number>()
  readonly #wakers = new Set<() => void>()
  #total = 0

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Runs work that waits for a payment; null if there is no room for it. */
  async run<T>(paymentId: string, work: () => Promise<T>): Promise<T | null> {
    const count = this.#counts.get(paymentId) ?? 0
    if (this.#total >= WAITING_MAX || count >= WAITING_PER_PAYMENT_MAX) return null
    this.#total += 1
    this.#counts.set(paymentId, count + 1)
    try {
      return await work()
    } finally {
      this.#total -= 1
      const left = (this.#counts.get(paymentId) ?? 1) - 1
      if (left === 0) this.#counts.delete(paymentId)
      else this.#counts.set(paymentId, left)
    }
  }

  /** Resolves when somebody wakes the room, or when the time is over. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel()
        this.#wakers.delete(done)
        resolve()
      }
      const cancel = this.#timers.after(ms, done)
      this.#wakers.add(done)
    })
  }

  /** Wakes everybody: the head moved, or the market stops. */
  wake(): void {
    for (const waker of [...this.#wakers]) waker()
  }
}
