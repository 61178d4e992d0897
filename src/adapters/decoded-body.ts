import { once } from 'node:events'
import { pipeline, type Readable, Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'

/** How far a body is read. */
export interface BodyBounds {
  /** Most bytes after decompression. */
  readonly bytesMax: number
  /** Reading ends with this text, in any case. */
  readonly until?: string | undefined
}

/** What was read of a body; `longer` where it went on behind the bound. */
export interface ReadBody {
  readonly bytes: Uint8Array
  readonly longer: boolean
}

/** A body that was given up; the message says what is wrong with it. */
export class UnusableBody extends Error {}

/** Codings that a request asks for. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd'
/** Compression makes nothing longer than by this: what does is there to keep us busy. */
const OVERHEAD_BYTES = 65_536
/** Pieces in which a body may come: each takes memory and time of its own, however small it is. */
const PIECES_MAX = 65_536
/** RFC 8878 lets a sender need no larger window; it is memory that the sender chooses. */
const ZSTD_WINDOW_LOG_MAX = 23

/** Codings of a Content-Encoding header, outermost last; `identity` counts for nothing. */
export function codingsOf(header: string): readonly string[] {
  return header
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
}

/** Whether a body in these codings is read: one at most, and a known one. */
export function canDecode(codings: readonly string[]): boolean {
  return codings.length === 0 || (codings.length === 1 && Object.hasOwn(DECODERS, codings[0] as string))
}

/**
 * Reads a body, bytes counted after decompression. Throws where it breaks off or its coding is broken, and an `UnusableBody`
 * where it is made to keep us busy; what follows a bound is not asked for any more.
 */
export async function readBody(body: Readable, codings: readonly string[], bounds: BodyBounds): Promise<ReadBody> {
  const counter = new ByteBound(bounds.bytesMax + OVERHEAD_BYTES)
  const [coding] = codings
  if (coding === undefined) return collect(through([body, counter]), bounds)
  const first = await firstPiece(body)
  // Answers without a body may well say how it would be coded.
  if (first === null) return { bytes: new Uint8Array(), longer: false }
  const decoder = DECODERS[coding]?.(first)
  if (decoder === undefined) throw new Error(`no decoder of ${coding}`)
  return collect(through([body, counter, decoder]), bounds)
}

/** Lets so many bytes and pieces pass, and fails at more: compressed input need not come to any output. */
class ByteBound extends Transform {
  #left: number
  #piecesLeft = PIECES_MAX

  constructor(bytesMax: number) {
    super()
    this.#left = bytesMax
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: Error | null, chunk?: Buffer) => void): void {
    this.#left -= chunk.length
    this.#piecesLeft -= 1
    // Without a coding the collector ends before this.
    if (this.#left < 0) done(new UnusableBody('it is longer compressed than it may be plain'))
    else if (this.#piecesLeft < 0) done(new UnusableBody('it comes in too many pieces'))
    else done(null, chunk)
  }
}

type Decoder = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>

const DECODERS: Readonly<Record<string, (first: Buffer) => Decoder>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // By the book deflate has a head; some servers leave it away.
  deflate: (first) => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
}

/** What a body begins with, which stays in it; null where it has nothing. */
async function firstPiece(body: Readable): Promise<Buffer | null> {
  if (body.readableLength === 0 && !body.readableEnded) await once(body, 'readable')
  const first = body.read() as Buffer | null
  if (first !== null) body.unshift(first)
  return first
}

/** The last of some streams, fed by the others; an error of any is an error of it, and its end ends all. */
function through(streams: readonly [Readable, Transform, ...Transform[]]): Readable {
  return pipeline([...streams], () => {}) as unknown as Readable
}

async function collect(stream: Readable, { bytesMax, until }: BodyBounds): Promise<ReadBody> {
  const chunks: Buffer[] = []
  const seeker = until === undefined ? null : new Seeker(until)
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const end = seeker?.endIn(chunk) ?? chunk.length
    const wanted = chunk.subarray(0, Math.min(end, bytesMax - bytes))
    chunks.push(wanted)
    bytes += wanted.length
    if (end > wanted.length) return { bytes: Buffer.concat(chunks), longer: true }
    if (seeker?.found === true) break
  }
  return { bytes: Buffer.concat(chunks), longer: false }
}

/** Looks for a text in pieces of a body. */
class Seeker {
  readonly #text: string
  #tail = ''
  found = false

  constructor(text: string) {
    this.#text = text.toLowerCase()
  }

  /** Where the text ends in this piece, null where it is not complete by then. */
  endIn(chunk: Buffer): number | null {
    const seen = this.#tail + chunk.toString('latin1').toLowerCase()
    const at = seen.indexOf(this.#text)
    if (at >= 0) {
      this.found = true
      return at + this.#text.length - this.#tail.length
    }
    this.#tail = seen.slice(Math.max(0, seen.length - this.#text.length + 1))
    return null
  }
}
