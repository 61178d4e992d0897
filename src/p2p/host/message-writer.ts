import type { Stream } from '@libp2p/interface'
import { varint } from './protobuf.ts'

/** How writing ended. `stalled`: the other end took nothing for too long. */
export type Written = 'written' | 'stalled' | 'closed'

/** What is handed to the muxer at once: this much of every stream may wait in the queue of a full connection. */
const CHUNK_BYTES = 32 * 1_024
/** Who takes not even one chunk in this time does not read. */
const STALL_MS = 8_000

/**
 * Writes one message behind its length as an unsigned varint and closes our end. It never has more than a chunk in the
 * stream: `stream.onDrain` keeps its first promise for ever, and `send` queues without limit.
 */
export async function writeMessage(stream: Stream, bytes: Uint8Array): Promise<Written> {
  const prefix = varint(bytes.length)
  const first = new Uint8Array(prefix.length + Math.min(bytes.length, CHUNK_BYTES))
  first.set(prefix)
  first.set(bytes.subarray(0, CHUNK_BYTES), prefix.length)
  let written = await writeChunk(stream, first)
  for (let at = CHUNK_BYTES; at < bytes.length && written === 'written'; at += CHUNK_BYTES) {
    written = await writeChunk(stream, bytes.subarray(at, at + CHUNK_BYTES))
  }
  return written === 'written' ? await closeWrite(stream) : written
}

async function writeChunk(stream: Stream, chunk: Uint8Array): Promise<Written> {
  try {
    stream.send(chunk)
  } catch {
    return 'closed'
  }
  while (isFull(stream)) {
    const woken = await nextDrain(stream)
    if (woken !== 'written') return woken
  }
  return stream.status === 'open' ? 'written' : 'closed'
}

async function closeWrite(stream: Stream): Promise<Written> {
  try {
    await stream.close({ signal: AbortSignal.timeout(STALL_MS) })
    return 'written'
  } catch {
    return 'closed'
  }
}

function isFull(stream: Stream): boolean {
  return stream.status === 'open' && (stream.writeBufferLength > 0 || stream.writableNeedsDrain)
}

function nextDrain(stream: Stream): Promise<Written> {
  return new Promise((resolve) => {
    const settle = (outcome: Written): void => {
      clearTimeout(timer)
      stream.removeEventListener('drain', onDrain)
      stream.removeEventListener('idle', onDrain)
      stream.removeEventListener('close', onClose)
      resolve(outcome)
    }
    const onDrain = (): void => settle('written')
    const onClose = (): void => settle('closed')
    const timer = setTimeout(() => settle('stalled'), STALL_MS)
    stream.addEventListener('drain', onDrain)
    stream.addEventListener('idle', onDrain)
    stream.addEventListener('close', onClose)
  })
}
