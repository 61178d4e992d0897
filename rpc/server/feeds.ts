import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { watchPace } from '../edge/pace.ts'
import type { Feed, FeedOut } from './answer.ts'
import type { StreamLimits } from './streams.ts'

/** A reader who understands that an answer broke off goes by himself; who has not gone after so long is cut off. */
const LINGER_MS = 500

/** Where a feed is written, and who hears of an error that is a bug. */
export interface FeedPlace {
  readonly raw: ServerResponse
  readonly headers: NodeJS.Dict<number | string | string[]>
  /** How often something is sent at least, and how long a reader may be slower than the least pace. */
  readonly limits: Pick<StreamLimits, 'heartbeatMs' | 'behindMsMax'>
  readonly onError: (error: unknown) => void
}

/** Writes an answer while it is made, to its end or until the reader is gone. Never throws. */
export async function writeFeed({ raw, headers, limits, onError }: FeedPlace, feed: Feed): Promise<void> {
  // A reader that goes away while something is written to it is no error of ours.
  raw.on('error', () => {})
  raw.writeHead(200, { ...headers, ...feed.headers, 'x-accel-buffering': 'no', 'cache-control': 'no-cache' })
  const out = new Writer(raw, limits)
  if (feed.isFile === true) out.stop()
  try {
    const isWhole = await feed.write(out)
    out.stop()
    if (isWhole) raw.end()
    else await cut(raw)
    // What is written and not taken is held in memory.
    await taken(raw, limits.behindMsMax)
  } catch (error) {
    onError(error)
    raw.destroy()
  } finally {
    out.stop()
  }
}

/**
 * Ends a connection without ending the answer: what broke off must not look whole. Not at once, since libraries throw away what
 * they have read and not handed over when a connection breaks, and the last of it says why.
 */
async function cut(raw: ServerResponse): Promise<void> {
  if (!(await closed(raw, LINGER_MS))) raw.socket?.destroySoon()
}

/** Waits until an answer that was ended is taken, or its reader too slow. */
async function taken(raw: ServerResponse, behindMsMax: number): Promise<void> {
  const stop = watchPace(raw, behindMsMax)
  if (!raw.closed) await once(raw, 'close')
  stop()
}

/** Waits for the end of a connection, or of an answer that was ended; false where it did not come in time. */
function closed(raw: ServerResponse, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (raw.closed) return resolve(true)
    const told = (): void => {
      clearTimeout(late)
      raw.off('close', told)
      resolve(raw.closed)
    }
    const late = setTimeout(told, ms).unref()
    raw.on('close', told)
  })
}

class Writer implements FeedOut {
  readonly #raw: ServerResponse
  readonly #behindMsMax: number
  readonly #heartbeat: NodeJS.Timeout

  constructor(raw: ServerResponse, { heartbeatMs, behindMsMax }: FeedPlace['limits']) {
    this.#raw = raw
    this.#behindMsMax = behindMsMax
    // So that no proxy in between takes the connection for dead.
    this.#heartbeat = setInterval(() => {
      if (!raw.destroyed && !raw.writableNeedDrain) raw.write(': keep-alive\n\n')
    }, heartbeatMs).unref()
  }

  write(piece: string | Uint8Array): Promise<void> | undefined {
    const raw = this.#raw
    if (raw.destroyed || raw.writableEnded) return undefined
    this.#heartbeat.refresh()
    return raw.write(piece) ? undefined : this.#drained()
  }

  stop(): void {
    clearInterval(this.#heartbeat)
  }

  #drained(): Promise<void> {
    const raw = this.#raw
    return new Promise((resolve) => {
      const stop = watchPace(raw, this.#behindMsMax)
      const told = (): void => {
        stop()
        raw.off('drain', told).off('close', told)
        resolve()
      }
      raw.on('drain', told).on('close', told)
    })
  }
}
