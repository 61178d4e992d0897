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

/** Where reading a body ends. */
export interface BodyBounds {
  /** Maximum bytes after decompression. */
  readonly bytesMax: number
  /** Reading ends at this text, matched in any case. */
  readonly until?: string | undefined
}

/** `longer` is true if the body continues beyond the bound. */
export interface ReadBody {
  readonly bytes: Uint8Array
  readonly longer: boolean
}

/** A body that was refused; the message says why. */
export class UnusableBody extends Error {}

/** The content codings that this node's requests accept. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd'
/** Compression adds less than this to a body. A longer one is an attack on this node. */
const OVERHEAD_BYTES = 65_536
/** Maximum chunks of a body: each costs memory and time, however small. */
const PIECES_MAX = 65_536
/** RFC 8878 recommends windows up to 8 MiB. The sender chooses the size, and this node needs memory for it. */
const ZSTD_WINDOW_LOG_MAX = 23

/** Codings of a Content-Encoding header, the outermost last; `identity` is dropped. */
export function codingsOf(header: string): readonly string[] {
  return header
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
}

/** Whether these codings can be read: at most one, and a known one. */
export function canDecode(codings: readonly string[]): boolean {
  return codings.length === 0 || (codings.length === 1 && Object.hasOwn(DECODERS, codings[0] as string))
}

/**
 * Reads a body; bytes are counted after decompression, and reading stops at a bound. Throws if the connection breaks
 * off or the coding is broken, and throws `UnusableBody` if the body is made to waste this node's time.
 */
export async function readBody(body: Readable, codings: readonly string[], bounds: BodyBounds): Promise<ReadBody> {
  const counter = new ByteBound(bounds.bytesMax + OVERHEAD_BYTES)
  const [coding] = codings
  if (coding === undefined) return collect(through([body, counter]), bounds)
  const first = await firstPiece(body)
  // An answer without a body may still name a coding.
  if (first === null) return { bytes: new Uint8Array(), longer: false }
  const decoder = DECODERS[coding]?.(first)
  if (decoder === undefined) throw new Error(`no decoder of ${coding}`)
  return collect(through([body, counter, decoder]), bounds)
}

/** Bounds the input, because compressed input may never produce output. */
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
    // A plain body usually ends earlier, in `collect`.
    if (this.#left < 0) done(new UnusableBody('its compressed form is longer than its plain form may be'))
    else if (this.#piecesLeft < 0) done(new UnusableBody('it comes in too many pieces'))
    else done(null, chunk)
  }
}

type Decoder = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>

const DECODERS: Readonly<Record<string, (first: Buffer) => Decoder>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // The standard wants deflate with a zlib header; some servers omit it.
  deflate: (first) => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
}

/** The first chunk, which stays in the body; null if the body is empty. */
async function firstPiece(body: Readable): Promise<Buffer | null> {
  if (body.readableLength === 0 && !body.readableEnded) await once(body, 'readable')
  const first = body.read() as Buffer | null
  if (first !== null) body.unshift(first)
  return first
}

/** Joins streams and returns the last one. An error in any of them reaches it, and its end ends all. */
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

class Seeker {
  readonly #text: string
  #tail = ''
  found = false

  constructor(text: string) {
    this.#text = text.toLowerCase()
  }

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
