import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHUNK_CHARS_MAX, chunksOf } from '../../marketplace/chat/voice/chunks.ts'
import { voiceSound } from '../../marketplace/chat/voice/voice-sound.ts'
import { parseWav, VOICE_FORMAT, WAV_HEADER_BYTES, wavHeader } from '../../marketplace/chat/voice/wav.ts'
import { runs } from '../support/runs.ts'

const samples = fc.int16Array({ maxLength: 500 })
const pieces = fc.constantFrom(
  '. ',
  '? ',
  ', ',
  ' ',
  '\n',
  '\r\n',
  '「',
  '。',
  '، ',
  '\u0301',
  '👩‍👩‍👧',
  '🇩🇪',
  '\ud83d',
)
const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  pieces,
  fc.constantFrom('word', 'слово', 'คำ', 'x'.repeat(700), ' '.repeat(900)),
)
const text = fc.array(words, { maxLength: 600 }).map((parts) => parts.join(''))

function fileOf(sound: Int16Array): Uint8Array {
  const data = bytesOf(sound)
  return Buffer.concat([wavHeader(data.length), data])
}

function bytesOf(sound: Int16Array): Uint8Array {
  const data = Buffer.alloc(sound.length * 2)
  for (const [i, sample] of sound.entries()) data.writeInt16LE(sample, 2 * i)
  return data
}

function soundIn(file: Uint8Array): Uint8Array {
  const read = parseWav(file)
  if (typeof read === 'string') throw new Error(read)
  const steps = voiceSound(read)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

describe('WAV files', () => {
  it('that are joined are one, with the samples of all one after another', () => {
    fc.assert(
      fc.property(fc.array(samples, { minLength: 1, maxLength: 8 }), (parts) => {
        const sounds = parts.map((part) => soundIn(fileOf(part)))
        const bytes = sounds.reduce((sum, { length }) => sum + length, 0)
        const joined = Buffer.concat([wavHeader(bytes), ...sounds])
        expect(joined.length).toBe(WAV_HEADER_BYTES + bytes)
        expect(joined.readUInt32LE(4)).toBe(joined.length - 8)
        expect(joined.readUInt32LE(40)).toBe(bytes)
        const whole = Int16Array.from(parts.flatMap((part) => [...part]))
        expect(parseWav(joined)).toMatchObject({ format: VOICE_FORMAT, isShort: false })
        expect(Buffer.from(soundIn(joined)).equals(Buffer.from(bytesOf(whole)))).toBe(true)
      }),
      { numRuns: runs(200) },
    )
  })

  it('with anything in them are read or refused, and never beyond their end', () => {
    const whole = fileOf(Int16Array.from({ length: 40 }, (_, i) => i))
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255))
    const broken = fc.tuple(fc.array(change, { maxLength: 12 }), fc.nat(whole.length)).map(([changes, length]) => {
      const file = Buffer.from(whole)
      for (const [at, byte] of changes) file[at] = byte
      return file.subarray(0, length)
    })
    const count = { read: 0, refused: 0 }
    fc.assert(
      fc.property(fc.oneof(broken, fc.uint8Array({ maxLength: 200 })), (file) => {
        const read = parseWav(file)
        count[typeof read === 'string' ? 'refused' : 'read'] += 1
        if (typeof read === 'string') return
        const { format, data } = read
        expect(data.length % ((format.bits / 8) * format.channels)).toBe(0)
        expect(data.byteOffset + data.length).toBeLessThanOrEqual(file.byteOffset + file.length)
        const frames = data.length / (format.bits / 8) / format.channels
        expect(soundIn(file).length).toBe(2 * Math.round((frames * VOICE_FORMAT.rate) / format.rate))
      }),
      { numRuns: runs(3_000) },
    )
    expect(Math.min(count.read, count.refused)).toBeGreaterThan(0)
  })
})

describe('a text in pieces', () => {
  it('is the text, in pieces that are short enough and no emptier than they must be', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const chunks = chunksOf(whole)
        expect(chunks.join('')).toBe(whole)
        for (const chunk of chunks) {
          expect(chunk.length).toBeGreaterThan(0)
          expect(chunk.length).toBeLessThanOrEqual(CHUNK_CHARS_MAX)
        }
      }),
      { numRuns: runs(500) },
    )
  })

  it('is cut between letters, never within one', () => {
    const letters = new Intl.Segmenter('en', { granularity: 'grapheme' })
    fc.assert(
      fc.property(text, (whole) => {
        const starts = new Set(Array.from(letters.segment(whole), ({ index }) => index))
        let at = 0
        for (const chunk of chunksOf(whole).slice(0, -1)) {
          at += chunk.length
          expect(starts.has(at)).toBe(true)
        }
      }),
      { numRuns: runs(300) },
    )
  })
})
