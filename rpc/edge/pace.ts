import type { ServerResponse } from 'node:http'

/** What a reader who is behind takes at least. */
export const PACE_BYTES_PER_SECOND = 1_024

interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

/** Cuts a reader off who takes less than the least pace over `ms`, again and again; what is called ends the watch. */
export function watchPace(raw: ServerResponse, ms: number): () => void {
  let before = takenOf(raw)
  const timer = setInterval(() => {
    const now = takenOf(raw)
    if (now - before < (PACE_BYTES_PER_SECOND * ms) / 1_000) raw.destroy()
    before = now
  }, ms).unref()
  return () => clearInterval(timer)
}

/** Bytes of a connection that its other end took. Of a long piece that is on its way only the handle knows. */
function takenOf({ socket }: ServerResponse): number {
  const { _handle: handle } = (socket ?? {}) as { readonly _handle?: Handle | null }
  return handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize
}
