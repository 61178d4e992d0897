const MIB = 1_048_576

/**
 * Bytes of replies to one peer that exist at a time, being made or being written: four full pages and some small ones. Who
 * asks for more at once waits, so one that does not read costs no more than this.
 */
const REPLY_BYTES_MAX = 4.5 * MIB

interface Waiter {
  readonly bytes: number
  readonly admit: (admitted: boolean) => void
}

/** Room for the replies to one peer. */
export class ReplyRoom {
  #taken = 0
  readonly #waiters = new Set<Waiter>()

  get empty(): boolean {
    return this.#taken === 0 && this.#waiters.size === 0
  }

  /** Waits for room; false if the signal ends the wait. Small replies pass large ones that wait. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#taken + bytes <= REPLY_BYTES_MAX) {
      this.#taken += bytes
      return true
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiter = { bytes, admit: resolve }
    const giveUp = (): void => {
      if (this.#waiters.delete(waiter)) resolve(false)
    }
    this.#waiters.add(waiter)
    signal.addEventListener('abort', giveUp, { once: true })
    const admitted = await promise
    signal.removeEventListener('abort', giveUp)
    return admitted
  }

  /** Gives room back. */
  free(bytes: number): void {
    this.#taken -= bytes
    for (const waiter of this.#waiters) {
      if (this.#taken + waiter.bytes > REPLY_BYTES_MAX) continue
      this.#taken += waiter.bytes
      this.#waiters.delete(waiter)
      waiter.admit(true)
    }
  }
}
