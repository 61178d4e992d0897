/** Waits, or resolves early when the signal aborts. Never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const over = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, ms)
    signal?.addEventListener('abort', over)
  })
}

/** Bounds of a wait for a payment. */
export interface Patience {
  /** When to give up, milliseconds since 1970. */
  readonly untilMs: number
  readonly signal?: AbortSignal
}

/** Time in which a list of several pages may come, also where nothing else is waited for. */
const PAGES_MS = 5_000

/** Bounds of reading a list. A server that always has one more page must not be read for ever. */
export function whileReading(given: Patience): Patience {
  return { ...given, untilMs: Math.max(given.untilMs, Date.now() + PAGES_MS) }
}

/** Whether the wait is over. */
export function isOver({ untilMs, signal }: Patience): boolean {
  return signal?.aborted === true || Date.now() >= untilMs
}
