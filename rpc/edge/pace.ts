import type { ServerResponse } from 'node:http'

/** The least pace of a reader that is behind. */
export const PACE_BYTES_PER_SECOND = 1_024

interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

/** Cuts off a reader that takes less than the least pace over a period of `ms`. Returns a function that ends the watch. */
export function watchPace(raw: ServerResponse, ms: number): () => void {
  let before = takenOf(raw)
  const timer = setInterval(() => {
    const now = takenOf(raw)
    if (now - before < (PACE_BYTES_PER_SECOND * ms) / 1_000) raw.destroy()
    before = now
  }, ms).unref()
  return () => clearInterval(timer)
}

/** Bytes that the other end has taken. Only the handle knows how much of a long piece in flight is taken. */
function takenOf({ socket }: ServerResponse): number {
  const { _handle: handle } = (socket ?? {}) as { readonly _handle?: Handle | null }
  return handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize
}
