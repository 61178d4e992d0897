import type { ServerResponse } from 'node:http'
import { type Holder, heldTooMany } from '../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { watchPace } from '../edge/pace.ts'
import type { EventSink, StreamBegin, StreamEvent } from './answer.ts'

/** Bounds of streams of server-sent events. */
export interface StreamLimits {
  /**
   * Streams of all callers but the operator. When all are open, a new one ends one of the network or address with most. If
   * the streams are shared fairly already, the new one is refused.
   */
  readonly openMax: number
  readonly openPerAddressMax: number
  /** Streams of the operator at once. They do not count for `openMax`. */
  readonly operatorMax: number
  /** Bytes that may wait for a reader. A reader for whom more wait is cut off. */
  readonly bufferBytesMax: number
  /** Period over which the pace of a late reader is measured. A reader below the least pace is cut off. */
  readonly behindMsMax: number
  /** Time between comment lines in a stream, which let both ends notice a dead connection. */
  readonly heartbeatMs: number
}

/** The client of a stream, and the response that carries it. */
export interface StreamPlace {
  readonly raw: ServerResponse
  /** The client that the stream counts for; null for the operator. */
  readonly holder: Holder | null
  readonly headers: NodeJS.Dict<number | string | string[]>
  /** Gets errors that are bugs. */
  readonly onError: (error: unknown) => void
}

/** Time that a client should wait before it connects again. */
const RETRY_MS = 1_000

/** The streams of one server: their number, their heartbeat, and their end when the server closes. */
export class Streams {
  readonly #limits: StreamLimits
  /** Open streams, the oldest at the front. */
  readonly #open = new Map<Stream, Place>()
  readonly #heartbeat: NodeJS.Timeout
  #closed = false

  constructor(limits: StreamLimits) {
    this.#limits = limits
    this.#heartbeat = setInterval(() => {
      for (const stream of this.#open.keys()) stream.write(':\n\n')
    }, limits.heartbeatMs).unref()
  }

  get count(): number {
    return this.#open.size
  }

  /**
   * Opens a stream. After a fault nothing was written. Faults: `rpc/too-many-streams`, `rpc/busy` once closed, and
   * those of `begin`.
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

  close(): void {
    this.#closed = true
    clearInterval(this.#heartbeat)
    for (const stream of this.#open.keys()) stream.end()
  }

  /** Room for one more stream, and the stream that must end for it, if any. Null if there is no room. */
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
  /** Ends the stream. Its reader may connect again. */
  readonly giveUp: () => void
}

function isStranger(place: Place): place is Place & { readonly holder: Holder } {
  return place.holder !== null
}

/** One stream. Its headers go out with the first event or id, or else once `begin` has returned no fault. */
class Stream implements EventSink {
  readonly #raw: ServerResponse
  readonly #headers: StreamPlace['headers']
  readonly #onError: StreamPlace['onError']
  readonly #limits: StreamLimits
  #onTaken = (): void => {}

  constructor({ raw, headers, onError }: StreamPlace, limits: StreamLimits) {
    this.#raw = raw
    this.#headers = headers
    this.#onError = onError
    this.#limits = limits
  }

  start(): void {
    if (this.#raw.headersSent) return
    // A reader that leaves during a write is no error of the node.
    this.#raw.on('error', () => {})
    this.#raw.writeHead(200, {
      ...this.#headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Tells nginx not to buffer the answer, which would hold events back.
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

  /** True while at least half of the buffer is free, so that one more event fits. */
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
        this.#onTaken = () => {}
        raw.off('close', told)
        resolve(!raw.destroyed)
      }
      // A socket that can hold more than half of the buffer tells no `drain` here.
      this.#onTaken = () => {
        if (this.hasRoom) told()
      }
      raw.on('close', told)
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
    raw.write(text, () => this.#onTaken())
    if (raw.writableLength > this.#limits.bufferBytesMax) raw.destroy()
  }
}
