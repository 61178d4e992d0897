import type { ServerResponse } from 'node:http'
import { type Holder, heldTooMany } from '../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { watchPace } from '../edge/pace.ts'
import type { EventSink, StreamBegin, StreamEvent } from './answer.ts'

/** Bounds of streams of server-sent events. */
export interface StreamLimits {
  /** Streams at once; where they are all taken, who has most of them makes room for others. */
  readonly openMax: number
  readonly openPerAddressMax: number
  /** Streams of the operator at once, beside those. */
  readonly operatorMax: number
  /** A reader that is further behind than this is cut off. */
  readonly bufferBytesMax: number
  /** A reader that is behind, and waited for, is cut off where it takes less than the least pace over so long. */
  readonly behindMsMax: number
  /** A comment is sent so often, so that both ends learn of a dead connection. */
  readonly heartbeatMs: number
}

/** The client of a stream, and the response that is written to. */
export interface StreamPlace {
  readonly raw: ServerResponse
  /** The client that the stream counts for; null for the operator. */
  readonly holder: Holder | null
  readonly headers: NodeJS.Dict<number | string | string[]>
  /** Hears of an error that is a bug. */
  readonly onError: (error: unknown) => void
}

/** What a client should wait before it connects again. */
const RETRY_MS = 1_000

/** The streams of one server: their number, their heartbeat, and their end when the server closes. */
export class Streams {
  readonly #limits: StreamLimits
  /** The oldest first. */
  readonly #open = new Map<Stream, Place>()
  readonly #heartbeat: NodeJS.Timeout
  #closed = false

  constructor(limits: StreamLimits) {
    this.#limits = limits
    this.#heartbeat = setInterval(() => {
      for (const stream of this.#open.keys()) stream.write(':\n\n')
    }, limits.heartbeatMs).unref()
  }

  /** Streams that are open. */
  get count(): number {
    return this.#open.size
  }

  /**
   * Opens a stream; a fault says why not, and then nothing was written. Faults: `rpc/too-many-streams`, `rpc/busy` once
   * closed, and those of `begin`.
   */
  open(place: StreamPlace, begin: StreamBegin): Fault | null {
    if (this.#closed) return fault('rpc/busy')
    const { raw, holder } = place
    const room = this.#roomFor(holder)
    if (room === null) return fault('rpc/too-many-streams')
    const stream = new Stream(place, this.#limits)
    const begun = begin(stream)
    if ('code' in begun) return begun
    room.madeBy?.giveUp()
    const over = (): void => {
      if (this.#open.delete(stream)) begun.stop()
    }
    const giveUp = (): void => {
      over()
      stream.end()
    }
    this.#open.set(stream, { holder, giveUp })
    raw.once('close', over)
    // The client may have left already.
    if (raw.destroyed) over()
    else stream.start()
    return null
  }

  /** Ends every stream and opens none any more. */
  close(): void {
    this.#closed = true
    clearInterval(this.#heartbeat)
    for (const stream of this.#open.keys()) stream.end()
  }

  /** Room for one more, and who has to make it; null where there is none. */
  #roomFor(holder: Holder | null): { readonly madeBy: Place | undefined } | null {
    const { openMax, openPerAddressMax, operatorMax } = this.#limits
    const taken = [...this.#open.values()]
    const others = taken.filter(isStranger)
    if (holder === null) return taken.length - others.length < operatorMax ? { madeBy: undefined } : null
    const own = others.filter((one) => one.holder.address === holder.address)
    if (own.length >= openPerAddressMax) return null
    if (others.length < openMax) return { madeBy: undefined }
    const madeBy = heldTooMany(others, holder).at(-1)
    return madeBy === undefined ? null : { madeBy }
  }
}

interface Place {
  readonly holder: Holder | null
  /** Ends the stream, whose reader may connect again. */
  readonly giveUp: () => void
}

function isStranger(place: Place): place is Place & { readonly holder: Holder } {
  return place.holder !== null
}

/** One stream. Its head is written with the first event. */
class Stream implements EventSink {
  readonly #raw: ServerResponse
  readonly #headers: StreamPlace['headers']
  readonly #onError: StreamPlace['onError']
  readonly #limits: StreamLimits

  constructor({ raw, headers, onError }: StreamPlace, limits: StreamLimits) {
    this.#raw = raw
    this.#headers = headers
    this.#onError = onError
    this.#limits = limits
  }

  start(): void {
    if (this.#raw.headersSent) return
    // A reader that goes away while something is written to it is no error of ours.
    this.#raw.on('error', () => {})
    this.#raw.writeHead(200, {
      ...this.#headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // A proxy that gathers answers would hold events back.
      'x-accel-buffering': 'no',
      connection: 'close',
    })
    this.write(`retry: ${RETRY_MS}\n\n`)
  }

  send({ event, id, data }: StreamEvent): void {
    this.start()
    this.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  mark(id: string): void {
    this.start()
    this.write(`id: ${id}\n\n`)
  }

  /** Half of what may be behind is left for the event that comes next. */
  get hasRoom(): boolean {
    return this.#raw.writableLength <= this.#limits.bufferBytesMax / 2
  }

  room(): Promise<boolean> {
    const raw = this.#raw
    return new Promise((resolve) => {
      if (raw.destroyed) return resolve(false)
      if (this.hasRoom) return resolve(true)
      const stop = watchPace(raw, this.#limits.behindMsMax)
      const told = (): void => {
        stop()
        raw.off('drain', told).off('close', told)
        resolve(!raw.destroyed)
      }
      raw.on('drain', told).on('close', told)
    })
  }

  end(): void {
    this.start()
    this.#raw.end()
  }

  fail(error: unknown): void {
    this.#onError(error)
    this.#raw.destroy()
  }

  write(text: string): void {
    const raw = this.#raw
    if (raw.destroyed || raw.writableEnded) return
    raw.write(text)
    if (raw.writableLength > this.#limits.bufferBytesMax) raw.destroy()
  }
}
