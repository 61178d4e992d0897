import type { Stream, StreamMessageEvent } from '@libp2p/interface'

/** `oversize`: more bytes claimed than allowed. `partial`: ended in the middle. `closed`: ended before the first byte, or reset. */
export type Reading =
  | { readonly kind: 'message'; readonly bytes: Uint8Array }
  | { readonly kind: 'oversize' | 'partial' | 'closed' }

/** Limits and listeners of a reader. */
export interface ReaderOptions {
  readonly bytesMax: number
  onBytes(bytes: number): void
  /** Hears that there are bytes after the message. */
  onJunk(): void
}

const LENGTH_BYTES_MAX = 4
const FIRST_BUFFER = 4_096
const GROWTH = 4

/**
 * Reads the one message of a stream, which follows its length as an unsigned varint. The claimed length is checked before anything is kept,
 * and memory grows with what came, not with the claim. It listens for events, because an iterator over a stream queues without limit.
 */
export class MessageReader {
  readonly done: Promise<Reading>
  readonly #options: ReaderOptions
  readonly #settle: (reading: Reading) => void
  #settled = false
  #refused = false
  #lengthBytes = 0
  #length = 0
  #lengthKnown = false
  #buffer = new Uint8Array(0)
  #filled = 0

  constructor(stream: Stream, options: ReaderOptions) {
    const { promise, resolve } = Promise.withResolvers<Reading>()
    this.done = promise
    this.#options = options
    this.#settle = (reading) => {
      this.#settled = true
      resolve(reading)
    }
    stream.addEventListener('message', (event) => this.#take(event))
    stream.addEventListener('end', () => this.#end(this.#lengthBytes > 0))
    stream.addEventListener('close', () => this.#end(false))
  }

  #take({ data }: StreamMessageEvent): void {
    this.#options.onBytes(data.byteLength)
    for (const chunk of data instanceof Uint8Array ? [data] : data) this.#takeChunk(chunk)
  }

  #takeChunk(chunk: Uint8Array): void {
    let at = 0
    while (!this.#settled && !this.#lengthKnown && at < chunk.length) this.#takeLength(chunk[at++] as number)
    if (this.#settled) {
      if (at < chunk.length) this.#refuseRest()
      return
    }
    const rest = chunk.subarray(at, at + this.#length - this.#filled)
    this.#append(rest)
    if (this.#lengthKnown && this.#filled === this.#length) {
      this.#settle({ kind: 'message', bytes: this.#buffer.subarray(0, this.#length) })
      this.#buffer = new Uint8Array(0)
      if (at + rest.length < chunk.length) this.#refuseRest()
    }
  }

  #takeLength(byte: number): void {
    this.#length += (byte & 0x7f) * 2 ** (7 * this.#lengthBytes)
    this.#lengthBytes += 1
    this.#lengthKnown = byte < 0x80
    const endless = !this.#lengthKnown && this.#lengthBytes >= LENGTH_BYTES_MAX
    if (endless || this.#length > this.#options.bytesMax) this.#settle({ kind: 'oversize' })
  }

  #refuseRest(): void {
    if (this.#filled === this.#length && this.#lengthKnown && !this.#refused) this.#options.onJunk()
    this.#refused = true
  }

  /** It copies, because a slice would keep all bytes alive that the socket gave. */
  #append(bytes: Uint8Array): void {
    if (this.#filled + bytes.length > this.#buffer.length) {
      const wanted = Math.max(this.#filled + bytes.length, this.#buffer.length * GROWTH, FIRST_BUFFER)
      const grown = new Uint8Array(Math.min(wanted, this.#length))
      grown.set(this.#buffer.subarray(0, this.#filled))
      this.#buffer = grown
    }
    this.#buffer.set(bytes, this.#filled)
    this.#filled += bytes.length
  }

  #end(partial: boolean): void {
    if (this.#settled) return
    this.#buffer = new Uint8Array(0)
    this.#settle({ kind: partial ? 'partial' : 'closed' })
  }
}
