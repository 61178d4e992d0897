/** Work that waits for its turn. */
export interface Waiter {
  readonly start: () => void
}

/** True once `start` of its waiter is called. False if the signal aborts first. */
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
