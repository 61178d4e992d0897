import { describe, expect, it } from 'vitest'
import { parseWav, type SoundFormat, VOICE_FORMAT, wavHeader } from '../../../../../marketplace/chat/voice/wav.ts'

const SOUND = Uint8Array.from({ length: 100 }, (_, i) => i)

function chunk(tag: string, data: Uint8Array, size = data.length): Uint8Array {
  const head = Buffer.alloc(8)
  head.write(tag, 0, 'latin1')
  head.writeUInt32LE(size, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}

function format({ rate, bits, channels }: SoundFormat, kind = 1, frameBytes = (bits / 8) * channels): Uint8Array {
  const data = Buffer.alloc(16)
  data.writeUInt16LE(kind, 0)
  data.writeUInt16LE(channels, 2)
  data.writeUInt32LE(rate, 4)
  data.writeUInt32LE(rate * frameBytes, 8)
  data.writeUInt16LE(frameBytes, 12)
  data.writeUInt16LE(bits, 14)
  return data
}

function extensible(of: SoundFormat, sub = 1, rest = '000000001000800000aa00389b71'): Uint8Array {
  const more = Buffer.alloc(10)
  more.writeUInt16LE(22, 0)
  more.writeUInt16LE(of.bits, 2)
  more.writeUInt16LE(sub, 8)
  return Buffer.concat([format(of, 0xfffe), more, Buffer.from(rest, 'hex')])
}

function fileOf(chunks: readonly Uint8Array[], size?: number): Uint8Array {
  const body = Buffer.concat(chunks)
  const head = Buffer.alloc(12)
  head.write('RIFF', 0)
  head.writeUInt32LE(size ?? 4 + body.length, 4)
  head.write('WAVE', 8)
  return Buffer.concat([head, body])
}

const MONO = chunk('fmt ', format(VOICE_FORMAT))

describe('the header of a WAV file', () => {
  it('is, byte for byte, what a reader of the format expects', () => {
    const hex = '52494646' + '88130000' + '57415645' + '666d7420' + '10000000' + '0100' + '0100'
    const rest = 'c05d0000' + '80bb0000' + '0200' + '1000' + '64617461' + '64130000'
    expect(Buffer.from(wavHeader(4_964)).toString('hex')).toBe(hex + rest)
  })
})

describe('a WAV file is read', () => {
  it('with its format and its samples', () => {
    const format16 = { rate: 48_000, bits: 16, channels: 2 }
    const read = parseWav(Buffer.concat([wavHeader(100, format16), SOUND]))
    expect(read).toEqual({ format: format16, data: SOUND, isShort: false })
  })

  it('past chunks of others, of odd sizes too', () => {
    const list = chunk('LIST', Buffer.from('abc'))
    const file = fileOf([list, MONO, list, chunk('data', SOUND), list])
    expect(parseWav(file)).toEqual({ format: VOICE_FORMAT, data: SOUND, isShort: false })
  })

  it('wherever it lies in memory', () => {
    const file = Buffer.concat([Buffer.alloc(3), fileOf([MONO, chunk('data', SOUND)])]).subarray(3)
    expect(parseWav(file)).toMatchObject({ data: SOUND })
  })

  it.each([0xffff_ffff, 0x7fff_f000, 0x8000_0000, 0])(
    'to the end of the file where a stream wrote %i as its size',
    (size) => {
      const file = fileOf([MONO, chunk('data', SOUND, size)], size === 0 ? 0 : 0x7fff_f024)
      expect(parseWav(file)).toEqual({ format: VOICE_FORMAT, data: SOUND, isShort: false })
    },
  )

  it('without a sample of an empty one that knew its size', () => {
    const file = fileOf([MONO, chunk('data', new Uint8Array()), chunk('LIST', Buffer.from('abcd'))])
    expect(parseWav(file)).toMatchObject({ data: new Uint8Array(), isShort: false })
  })

  it('as far as it goes where it was cut off, and that is told', () => {
    expect(parseWav(fileOf([MONO, chunk('data', SOUND, 5_000)]))).toMatchObject({ data: SOUND, isShort: true })
  })

  it('to the last whole frame', () => {
    const wide = { rate: 24_000, bits: 24, channels: 2 }
    const file = fileOf([chunk('fmt ', format(wide)), chunk('data', SOUND)])
    expect(parseWav(file)).toMatchObject({ data: SOUND.subarray(0, 96) })
  })

  it('in the long form of its format', () => {
    const wide = { rate: 44_100, bits: 24, channels: 2 }
    const file = fileOf([chunk('fmt ', extensible(wide)), chunk('data', SOUND)])
    expect(parseWav(file)).toMatchObject({ format: wide })
  })
})

describe('a file is refused', () => {
  const withFormat = (data: Uint8Array): Uint8Array => fileOf([chunk('fmt ', data), chunk('data', SOUND)])

  it.each([
    ['nothing', new Uint8Array(), 'no WAV file'],
    ['a page', Buffer.from('<!doctype html><title>Bad gateway</title>'), 'no WAV file'],
    ['another RIFF', Buffer.concat([Buffer.from('RIFF____AVI '), SOUND]), 'no WAV file'],
    ['big-endian RIFX', Buffer.concat([Buffer.from('RIFX____WAVE'), SOUND]), 'no WAV file'],
    ['a head alone', fileOf([]), 'no sound'],
    ['no samples', fileOf([MONO]), 'no sound'],
    ['samples before their format', fileOf([chunk('data', SOUND), MONO]), 'format is not told'],
    ['a chunk that ends nowhere', fileOf([MONO, chunk('LIST', SOUND, 0xffff_fff0)]), 'no sound'],
    [
      'more chunks than any file has',
      fileOf(Array.from({ length: 1_000 }, () => chunk('junk', new Uint8Array()))),
      'no sound',
    ],
    ['a format of four bytes', withFormat(Buffer.alloc(4)), 'cut off'],
    ['floating point', withFormat(format({ ...VOICE_FORMAT, bits: 32 }, 3)), 'not whole numbers'],
    ['A-law', withFormat(format({ ...VOICE_FORMAT, bits: 8 }, 6)), 'not whole numbers'],
    ['floating point in the long form', withFormat(extensible(VOICE_FORMAT, 3)), 'not whole numbers'],
    ['an unknown long form', withFormat(extensible(VOICE_FORMAT, 1, '00'.repeat(14))), 'not whole numbers'],
    ['a long form that is cut off', withFormat(format(VOICE_FORMAT, 0xfffe)), 'not whole numbers'],
    ['no channel', withFormat(format({ ...VOICE_FORMAT, channels: 0 })), '0 channels'],
    ['six channels', withFormat(format({ ...VOICE_FORMAT, channels: 6 })), '6 channels'],
    ['an odd rate', withFormat(format({ ...VOICE_FORMAT, rate: 23_999 })), '23999 samples'],
    ['no rate', withFormat(format({ ...VOICE_FORMAT, rate: 0 })), '0 samples'],
    ['12 bits', withFormat(format({ ...VOICE_FORMAT, bits: 12 }, 1, 2)), '12 bits'],
    ['frames that do not fit', withFormat(format(VOICE_FORMAT, 1, 3)), '16 bits in 3 bytes'],
  ])('%s', (_, file, reason) => {
    expect(parseWav(file)).toContain(reason)
  })
})
