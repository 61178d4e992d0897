import type { Stream } from '@libp2p/interface'

/** Releases before keep a node in their table only while it answers these. */
export const PING_PROTOCOL = '/ipfs/ping/1.0.0'
/** Pings of one peer under way: one ends while the next begins. */
export const PING_STREAMS_MAX = 2
const PING_BYTES = 32
const PING_MS = 5_000

/** Gives one ping back, the one of its stream, and ends the stream. */
export function answerPing(stream: Stream): void {
  const timer = setTimeout(() => stream.abort(new Error('no whole ping in time')), PING_MS)
  const chunks: Uint8Array[] = []
  let bytes = 0
  stream.addEventListener('close', () => clearTimeout(timer))
  stream.addEventListener('message', ({ data }) => {
    if (bytes === PING_BYTES) return
    chunks.push(data.subarray())
    bytes += data.byteLength
    if (bytes > PING_BYTES) stream.abort(new Error('more than one ping'))
    if (bytes === PING_BYTES) void giveBack(stream, Buffer.concat(chunks))
  })
}

async function giveBack(stream: Stream, ping: Uint8Array): Promise<void> {
  try {
    stream.send(ping)
    await stream.close({ signal: AbortSignal.timeout(PING_MS) })
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error('not written'))
  }
}
