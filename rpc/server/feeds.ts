import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { watchPace } from '../edge/pace.ts'
import type { Feed, FeedOut } from './answer.ts'
import type { StreamLimits } from './streams.ts'

/** Time that a reader has to close a connection whose answer broke off. Then the node closes it. */
const LINGER_MS = 500

/** The connection that a feed is written to. */
export interface FeedPlace {
  readonly raw: ServerResponse
  readonly headers: NodeJS.Dict<number | string | string[]>
  /** Longest silence of the node, and how long a reader may be slower than the least pace. */
  readonly limits: Pick<StreamLimits, 'heartbeatMs' | 'behindMsMax'>
  /** Gets errors that are bugs. */
  readonly onError: (error: unknown) => void
}

/** Writes to the end of the feed, or until the reader leaves. Errors of the feed go to `onError`. */
export async function writeFeed({ raw, headers, limits, onError }: FeedPlace, feed: Feed): Promise<void> {
  // A reader that leaves during a write is no error of the node.
  raw.on('error', () => {})
  const out = new Writer(raw, limits)
  try {
    raw.writeHead(200, { ...headers, ...feed.headers, 'x-accel-buffering': 'no', 'cache-control': 'no-cache' })
    if (feed.isFile === true) out.stop()
    const isWhole = await feed.write(out)
    out.stop()
    if (isWhole) raw.end()
    else await cut(raw)
    // What the reader has not taken stays in memory, so the reader must keep the least pace to the end.
    await taken(raw, limits.behindMsMax)
  } catch (error) {
    onError(error)
    raw.destroy()
  } finally {
    out.stop()
  }
}

/**
 * Closes the connection without ending the answer, so that an answer that broke off does not look whole. Before that,
 * it waits: when a connection breaks, client libraries drop what they have not handed over yet, and the last piece says
 * why the answer broke off.
 */
async function cut(raw: ServerResponse): Promise<void> {
  if (!(await closed(raw, LINGER_MS))) raw.socket?.destroySoon()
}

/** Waits until the reader has taken an ended answer, or was cut off as too slow. */
async function taken(raw: ServerResponse, behindMsMax: number): Promise<void> {
  const stop = watchPace(raw, behindMsMax)
  if (!raw.closed) await once(raw, 'close')
  stop()
}

/** Waits until the answer or its connection closes. False if that takes longer than `ms`. */
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
    // Keeps proxies from closing the connection as dead.
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
