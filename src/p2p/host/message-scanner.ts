/** What is wrong with the bytes of a stream. */
export type ScanOffence = 'malformed' | 'oversize'

/** Fields of a protobuf message: bytes, an id or address, a number, or a message. */
export interface Shape {
  readonly [field: number]: 'bytes' | 'place' | 'number' | Shape
}

/**
 * Longest id or address. An address with the longest DNS name fits. libp2p writes ids in base 58, in time that grows with the square of
 * their length: 0.2 s for 8 KiB, most of an hour for 1 MiB.
 */
export const PLACE_BYTES_MAX = 272

const IDS_OF_TOPIC: Shape = { 1: 'bytes', 2: 'bytes' }
const IDS: Shape = { 1: 'bytes' }
const PRUNE: Shape = { 1: 'bytes', 2: { 1: 'place', 2: 'bytes' }, 3: 'number' }

/** An RPC of gossipsub 1.2. */
const RPC: Shape = {
  1: { 1: 'number', 2: 'bytes' },
  2: { 1: 'bytes', 2: 'bytes', 3: 'bytes', 4: 'bytes', 5: 'bytes', 6: 'bytes' },
  3: { 1: IDS_OF_TOPIC, 2: IDS, 3: { 1: 'bytes' }, 4: PRUNE, 5: IDS },
}

/** Extensions of later releases are small. Megabytes in an unknown field are junk. */
const UNKNOWN_BYTES_MAX = 1_024
const VARINT_BYTES_MAX = 10
const TAG_MAX = 2 ** 32
const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

interface Level {
  readonly shape: Shape
  readonly end: number
}

/**
 * Follows the frames of a stream without keeping or decoding them. gossipsub silently drops what it cannot decode, however much comes, and
 * identify decodes whatever it gets. Contents are skipped, so a byte costs next to nothing.
 */
export class MessageScanner {
  /** Frames and fields so far. Each costs work to handle. */
  units = 0
  readonly #frameMax: number
  readonly #shape: Shape
  readonly #levels: Level[] = []
  #expects: 'frame' | 'tag' | 'number' | 'length' = 'frame'
  #field: Shape[number] | undefined
  /** Bytes of the frame that were read; digits and value of the current varint; bytes to skip. */
  #position = 0
  #digits = 0
  #value = 0
  #skip = 0

  constructor(frameMax: number, shape: Shape = RPC) {
    this.#frameMax = frameMax
    this.#shape = shape
  }

  /** Call it no more after an offence. */
  scan(bytes: Uint8Array): ScanOffence | null {
    for (let at = 0; at < bytes.length; ) {
      if (this.#skip > 0) {
        at += this.#step(bytes.length - at)
        continue
      }
      const offence = this.#take(bytes[at] as number)
      if (offence !== null) return offence
      at += 1
    }
    return null
  }

  #step(available: number): number {
    const stepped = Math.min(this.#skip, available)
    this.#skip -= stepped
    this.#position += stepped
    if (this.#skip === 0) this.#leave()
    return stepped
  }

  #take(byte: number): ScanOffence | null {
    const level = this.#levels.at(-1)
    this.#position += 1
    this.#value += (byte & 0x7f) * 2 ** (7 * this.#digits)
    this.#digits += 1
    if (byte >= 0x80) {
      const cut = level !== undefined && this.#position >= level.end
      return cut || this.#digits >= VARINT_BYTES_MAX ? 'malformed' : null
    }
    const value = this.#value
    this.#value = 0
    this.#digits = 0
    return level === undefined ? this.#beginFrame(value) : this.#continueFrame(level, value)
  }

  #beginFrame(length: number): ScanOffence | null {
    this.units += 1
    if (length > this.#frameMax) return 'oversize'
    this.#position = 0
    if (length > 0) {
      this.#levels.push({ shape: this.#shape, end: length })
      this.#expects = 'tag'
    }
    return null
  }

  #continueFrame(level: Level, value: number): ScanOffence | null {
    if (this.#expects === 'tag') return this.#beginField(level, value)
    if (this.#expects === 'length') return this.#beginContent(level, value)
    this.#expects = 'tag'
    this.#leave()
    return null
  }

  #beginField(level: Level, tag: number): ScanOffence | null {
    const number = Math.floor(tag / 8)
    const wire = tag % 8
    if (number === 0 || tag >= TAG_MAX) return 'malformed'
    this.units += 1
    this.#field = level.shape[number]
    if (this.#field !== undefined && wire !== (this.#field === 'number' ? WIRE.varint : WIRE.bytes)) return 'malformed'
    if (wire === WIRE.varint || wire === WIRE.bytes) {
      this.#expects = wire === WIRE.varint ? 'number' : 'length'
      return this.#position >= level.end ? 'malformed' : null
    }
    if (wire !== WIRE.fixed64 && wire !== WIRE.fixed32) return 'malformed'
    return this.#stepOver(level, wire === WIRE.fixed64 ? 8 : 4)
  }

  #beginContent(level: Level, length: number): ScanOffence | null {
    this.#expects = 'tag'
    const field = this.#field
    if (field === undefined && length > UNKNOWN_BYTES_MAX) return 'malformed'
    if (field === 'place' && length > PLACE_BYTES_MAX) return 'oversize'
    if (typeof field !== 'object') return this.#stepOver(level, length)
    if (this.#position + length > level.end) return 'malformed'
    this.#levels.push({ shape: field, end: this.#position + length })
    this.#leave()
    return null
  }

  #stepOver(level: Level, length: number): ScanOffence | null {
    if (this.#position + length > level.end) return 'malformed'
    this.#skip = length
    if (length === 0) this.#leave()
    return null
  }

  #leave(): void {
    while (this.#levels.length > 0 && this.#position === this.#levels.at(-1)?.end) this.#levels.pop()
    if (this.#levels.length === 0) this.#expects = 'frame'
  }
}
