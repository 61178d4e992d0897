import type { ServerResponse } from 'node:http'
import type { Feed, FeedOut } from './answer.ts'

/** A comment is sent after so long without anything else, so that nobody in between takes the connection for dead. */
const HEARTBEAT_MS = 10_000
/** A reader that takes nothing for so long is cut off. */
const BEHIND_MS_MAX = 30_000

/** Where a feed is written, and who hears of an error that is a bug. */
export interface FeedPlace {
  readonly raw: ServerResponse
  readonly headers: NodeJS.Dict<number | string | string[]>
  readonly onError: (error: unknown) => void
}

/** Writes an answer while it is made, to its end or until the reader is gone. Never throws. */
export async function writeFeed({ raw, headers, onError }: FeedPlace, feed: Feed): Promise<void> {
  // A reader that goes away while something is written to it is no error of ours.
  raw.on('error', () => {})
  raw.writeHead(200, { ...headers, ...feed.headers, 'x-accel-buffering': 'no', 'cache-control': 'no-cache' })
  const out = new Writer(raw)
  try {
    const isWhole = await feed.write(out)
    // What broke off must not look like an end: the reader sees a connection that was cut.
    if (isWhole) raw.end()
    else raw.socket?.destroySoon()
  } catch (error) {
    onError(error)
    raw.destroy()
  } finally {
    out.stop()
  }
}

class Writer implements FeedOut {
  readonly #raw: ServerResponse
  #heartbeat: NodeJS.Timeout

  constructor(raw: ServerResponse) {
    this.#raw = raw
    this.#heartbeat = this.#beat()
  }

  write(text: string): Promise<void> | undefined {
    const raw = this.#raw
    if (raw.destroyed || raw.writableEnded) return undefined
    this.#heartbeat.refresh()
    return raw.write(text) ? undefined : this.#drained()
  }

  stop(): void {
    clearInterval(this.#heartbeat)
  }

  #beat(): NodeJS.Timeout {
    return setInterval(() => {
      if (!this.#raw.destroyed && !this.#raw.writableNeedDrain) this.#raw.write(': keep-alive\n\n')
    }, HEARTBEAT_MS).unref()
  }

  #drained(): Promise<void> {
    const raw = this.#raw
    return new Promise((resolve) => {
      const slow = setTimeout(() => raw.destroy(), BEHIND_MS_MAX)
      const told = (): void => {
        clearTimeout(slow)
        raw.off('drain', told).off('close', told)
        resolve()
      }
      raw.on('drain', told).on('close', told)
    })
  }
}
