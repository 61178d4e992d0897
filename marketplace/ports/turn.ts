/** Work that waits for its turn. */
export interface Waiter {
  /** Ends the wait: the turn has come. */
  readonly start: () => void
}

/** Waits among others until `start` of its waiter is called: true then. False where the signal came before; it waits no more. */
export function turnAmong<T extends object>(
  waiting: Set<T & Waiter>,
  wish: T,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = (): void => {
      waiting.delete(waiter)
      resolve(false)
    }
    const start = (): void => {
      waiting.delete(waiter)
      signal?.removeEventListener('abort', giveUp)
      resolve(true)
    }
    const waiter = { ...wish, start }
    waiting.add(waiter)
    signal?.addEventListener('abort', giveUp, { once: true })
  })
}
