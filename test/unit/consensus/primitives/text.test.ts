import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeText, encodeText, isPrintableAscii } from '../../../../consensus/primitives/text.ts'

type Range = readonly [number, number]
const TAIL: Range = [0x80, 0xbf]

/** Table 3-7 of the Unicode standard, row by row: the well-formed byte sequences. */
const TABLE_3_7: readonly (readonly Range[])[] = [
  [[0x00, 0x7f]],
  [[0xc2, 0xdf], TAIL],
  [[0xe0, 0xe0], [0xa0, 0xbf], TAIL],
  [[0xe1, 0xec], TAIL, TAIL],
  [[0xed, 0xed], [0x80, 0x9f], TAIL],
  [[0xee, 0xef], TAIL, TAIL],
  [[0xf0, 0xf0], [0x90, 0xbf], TAIL, TAIL],
  [[0xf1, 0xf3], TAIL, TAIL, TAIL],
  [[0xf4, 0xf4], [0x80, 0x8f], TAIL, TAIL],
]

/** Code points that the specification excludes from text (section 2). */
const UNPRINTABLE: readonly Range[] = [
  [0x0000, 0x001f],
  [0x007f, 0x00a0],
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
]

const within = (value: number, [from, to]: Range) => value >= from && value <= to

/** Whether the bytes are one well-formed sequence. */
function isWellFormed(bytes: readonly number[]): boolean {
  return TABLE_3_7.some(
    (row) => row.length === bytes.length && row.every((range, i) => within(bytes[i] as number, range)),
  )
}

const isPrintable = (codePoint: number) => !UNPRINTABLE.some((range) => within(codePoint, range))

/** Expected text of a sequence. Undefined if it must be refused. */
function expected(bytes: readonly number[]): string | undefined {
  if (!isWellFormed(bytes)) return undefined
  const text = Buffer.from(bytes).toString('utf8')
  return isPrintable(text.codePointAt(0) as number) ? text : undefined
}

/** The first few sequences that are decoded differently from the table. */
function misread(sequences: Iterable<readonly number[]>): string[] {
  const wrong: string[] = []
  for (const bytes of sequences) {
    if (decodeText(Uint8Array.from(bytes)) !== expected(bytes) && wrong.length < 5)
      wrong.push(Buffer.from(bytes).toString('hex'))
  }
  return wrong
}

const BYTES = Array.from({ length: 256 }, (_, i) => i)
/** Bytes to follow a lead byte: ends of ranges of the table and of unprintable code points, and bytes beside them. */
const EDGES = [
  0x00, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x8e, 0x8f, 0x90, 0x9f, 0xa0, 0xa6, 0xa9, 0xae, 0xbb, 0xbe, 0xbf, 0xc0, 0xff,
]

describe('text', () => {
  it('is the table of the Unicode standard without the unprintable, for all sequences of one and two bytes', () => {
    expect(misread(BYTES.map((a) => [a]))).toEqual([])
    expect(misread(BYTES.slice(0x80).flatMap((a) => BYTES.map((b) => [a, b])))).toEqual([])
  })

  it('is that table for sequences of three and four bytes, at every lead, second byte and edge', () => {
    const neverLeads = [0xc0, 0xc1]
    const three = [...neverLeads, ...BYTES.slice(0xe0)].flatMap((a) =>
      BYTES.flatMap((b) => EDGES.map((c) => [a, b, c])),
    )
    expect(misread(three)).toEqual([])
    const four = [...neverLeads, ...BYTES.slice(0xf0)].flatMap((a) =>
      BYTES.flatMap((b) => EDGES.flatMap((c) => [0x7f, 0x80, 0xbf, 0xc0].map((d) => [a, b, c, d]))),
    )
    expect(misread(four)).toEqual([])
  })

  it('may hold every code point but the unprintable ones and the surrogates', () => {
    const wrong: string[] = []
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
      if (within(codePoint, [0xd800, 0xdfff])) continue
      const text = String.fromCodePoint(codePoint)
      const decoded = decodeText(encodeText(text))
      if (decoded !== (isPrintable(codePoint) ? text : undefined)) wrong.push(codePoint.toString(16))
    }
    expect(wrong).toEqual([])
  })

  it('has one spelling: what decodes encodes to the same bytes, and the strict decoder of the platform agrees', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const mixed = fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      fc.string({ unit: 'binary', maxLength: 12 }).map(encodeText),
      fc.tuple(fc.string({ unit: 'binary' }), fc.nat(), fc.nat({ max: 255 })).map(([text, at, byte]) => {
        const bytes = encodeText(text)
        return bytes.map((old, i) => (i === at % bytes.length ? byte : old))
      }),
    )
    fc.assert(
      fc.property(mixed, (bytes) => {
        const text = decodeText(bytes)
        if (text === undefined) {
          const platform = (() => {
            try {
              return strict.decode(bytes)
            } catch {
              return undefined
            }
          })()
          const printable =
            platform === undefined || [...platform].every((c) => isPrintable(c.codePointAt(0) as number))
          expect(platform !== undefined && printable).toBe(false)
        } else {
          expect(encodeText(text)).toEqual(bytes)
          expect(strict.decode(bytes)).toBe(text)
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it('may be empty', () => {
    expect(decodeText(new Uint8Array(0))).toBe('')
  })

  it('is refused as a whole for one bad sequence, wherever it stands', () => {
    const good = [...encodeText('aä高🪙')]
    const bad = [
      [0xff],
      [0xc0, 0x80],
      [0xc1, 0xbf],
      [0xe0, 0x80, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0x00],
    ]
    for (const sequence of bad) {
      for (const at of [0, 1, 3, 6, good.length])
        expect(decodeText(Uint8Array.from([...good.slice(0, at), ...sequence, ...good.slice(at)]))).toBeUndefined()
    }
    for (const cut of [2, 4, 5, 7, 8, 9]) expect(decodeText(Uint8Array.from(good.slice(0, cut)))).toBeUndefined()
  })

  it('encodes a lone surrogate as the replacement character', () => {
    expect(encodeText('\ud800')).toEqual(Uint8Array.of(0xef, 0xbf, 0xbd))
    expect(encodeText('a\udc00b')).toEqual(encodeText('a\ufffdb'))
  })
})

describe('printable ASCII', () => {
  it('is 0x20 to 0x7e', () => {
    for (const byte of BYTES)
      expect(isPrintableAscii(Uint8Array.of(0x41, byte, 0x42))).toBe(byte >= 0x20 && byte <= 0x7e)
    expect(isPrintableAscii(new Uint8Array(0))).toBe(true)
  })
})
