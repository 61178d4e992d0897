/** Samples are integers, little-endian, channels interleaved. */
export interface SoundFormat {
  /** Frames per second. */
  readonly rate: number
  /** Samples of 8 bits are unsigned. */
  readonly bits: number
  readonly channels: number
}

/** The sound in a WAV file. */
export interface WavSound {
  readonly format: SoundFormat
  /** Whole frames, as a view of the file. */
  readonly data: Uint8Array
  /** Whether the file claims more data than it has. */
  readonly isShort: boolean
}

/** The format of this platform. */
export const VOICE_FORMAT: SoundFormat = { rate: 24_000, bits: 16, channels: 1 }
/** Without optional parts. */
export const WAV_HEADER_BYTES = 44

/** Usual rates of speech. Conversions between them need few coefficients. */
const RATES: ReadonlySet<number> = new Set([
  8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
])
const BITS: ReadonlySet<number> = new Set([8, 16, 24, 32])
const CHANNELS_MAX = 2
const CHUNKS_MAX = 64
const CHUNK_HEADER_BYTES = 8
const FORM_BYTES = 12
const PLAIN_FORMAT_BYTES = 16
const EXTENSIBLE_FORMAT_BYTES = 40
const INTEGER_SAMPLES = 1
/** WAVE_FORMAT_EXTENSIBLE: the sample format is in a GUID that begins with its number. */
const EXTENSIBLE = 0xfffe
const GUID_AT = 24
const GUID_REST = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71] as const
/** A program that streams a file does not know its size, and writes 0 or a huge placeholder. */
const PLACEHOLDER_MIN = 0x7f00_0000

/**
 * Reads RIFF with integer samples, plain or WAVE_FORMAT_EXTENSIBLE. A text as result says what is wrong. Sizes are not
 * trusted beyond the end of the file. A placeholder size means up to the end.
 */
export function parseWav(file: Uint8Array): WavSound | string {
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  if (file.length < FORM_BYTES || tagAt(view, 0) !== 'RIFF' || tagAt(view, 8) !== 'WAVE') return 'it is no WAV file'
  let format: SoundFormat | null = null
  let at = FORM_BYTES
  for (let i = 0; i < CHUNKS_MAX && at + CHUNK_HEADER_BYTES <= file.length; i++) {
    const [tag, size, from] = [tagAt(view, at), view.getUint32(at + 4, true), at + CHUNK_HEADER_BYTES]
    if (tag === 'data') return format === null ? 'its format is not told' : soundAt(view, from, size, format)
    const end = from + size
    if (end > file.length) break
    if (tag === 'fmt ' && format === null) {
      const told = formatIn(new DataView(file.buffer, file.byteOffset + from, size))
      if (typeof told === 'string') return told
      format = told
    }
    // Chunks begin at even offsets.
    at = end + (size % 2)
  }
  return 'it holds no sound'
}

/** Header of a WAV file with this many bytes of sound. */
export function wavHeader(dataBytes: number, { rate, bits, channels }: SoundFormat = VOICE_FORMAT): Uint8Array {
  const header = new Uint8Array(WAV_HEADER_BYTES)
  const view = new DataView(header.buffer)
  const frameBytes = (bits / 8) * channels
  const write = (tag: string, at: number): void => header.set(new TextEncoder().encode(tag), at)
  write('RIFF', 0)
  view.setUint32(4, WAV_HEADER_BYTES - CHUNK_HEADER_BYTES + dataBytes, true)
  write('WAVE', 8)
  write('fmt ', 12)
  view.setUint32(16, PLAIN_FORMAT_BYTES, true)
  view.setUint16(20, INTEGER_SAMPLES, true)
  view.setUint16(22, channels, true)
  view.setUint32(24, rate, true)
  view.setUint32(28, rate * frameBytes, true)
  view.setUint16(32, frameBytes, true)
  view.setUint16(34, bits, true)
  write('data', 36)
  view.setUint32(40, dataBytes, true)
  return header
}

function soundAt(view: DataView, from: number, size: number, format: SoundFormat): WavSound | string {
  const there = view.byteLength - from
  const isOpen = size >= PLACEHOLDER_MIN || (size === 0 && isStreamed(view))
  const bytes = isOpen ? there : Math.min(size, there)
  const frameBytes = (format.bits / 8) * format.channels
  const data = new Uint8Array(view.buffer, view.byteOffset + from, bytes - (bytes % frameBytes))
  return { format, data, isShort: !isOpen && size > there }
}

/** Whether the total size was unknown when the header was written. */
function isStreamed(view: DataView): boolean {
  const size = view.getUint32(4, true)
  return size === 0 || size >= PLACEHOLDER_MIN
}

function formatIn(view: DataView): SoundFormat | string {
  if (view.byteLength < PLAIN_FORMAT_BYTES) return 'its format is cut off'
  if (sampleKindIn(view) !== INTEGER_SAMPLES) return 'its samples are not whole numbers without compression'
  const [channels, rate] = [view.getUint16(2, true), view.getUint32(4, true)]
  const [frameBytes, bits] = [view.getUint16(12, true), view.getUint16(14, true)]
  if (channels < 1 || channels > CHANNELS_MAX) return `it has ${channels} channels`
  if (!RATES.has(rate)) return `it has ${rate} samples a second`
  if (!BITS.has(bits) || frameBytes !== (bits / 8) * channels) return `it has ${bits} bits in ${frameBytes} bytes`
  return { rate, bits, channels }
}

function sampleKindIn(view: DataView): number | null {
  const kind = view.getUint16(0, true)
  if (kind !== EXTENSIBLE) return kind
  if (view.byteLength < EXTENSIBLE_FORMAT_BYTES) return null
  const isKnown = GUID_REST.every((byte, i) => view.getUint8(GUID_AT + 2 + i) === byte)
  return isKnown ? view.getUint16(GUID_AT, true) : null
}

function tagAt(view: DataView, at: number): string {
  return String.fromCharCode(...Array.from({ length: 4 }, (_, i) => view.getUint8(at + i)))
}
