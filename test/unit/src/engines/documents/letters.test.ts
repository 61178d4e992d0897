import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatRanges,
  includesCodePoint,
  isSetPlainly,
  parseRanges,
  rangesOf,
} from '../../../../../src/engines/documents/code-points.ts'
import { BUILT_IN_FILES, facesWith } from '../../../../../src/engines/documents/faces.ts'
import { textRuns, unsettableIn } from '../../../../../src/engines/documents/text-runs.ts'
import { plainFont } from '../../../../../src/engines/documents/woff.ts'

const faces = facesWith([])

function runsOf(text: string): readonly string[] {
  return textRuns(faces, text).map((run) => `${run.face.name}: ${run.text}`)
}

describe('code points of fonts', () => {
  it('are the same as ranges, as text and one by one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 500 })), (codePoints) => {
        const ranges = parseRanges(formatRanges(rangesOf(codePoints)))
        for (let one = 0; one <= 501; one++) expect(includesCodePoint(ranges, one)).toBe(codePoints.includes(one))
      }),
    )
  })

  for (const letter of ['a', 'ß', 'Ж', 'Ω', 'é', '\u0301', '€', ' ', '漢', 'か', '한', '½'])
    it(`are set one by one: ${letter}`, () => {
      expect(isSetPlainly(letter.codePointAt(0) as number)).toBe(true)
    })

  for (const letter of ['א', 'س', '٣', 'न', 'ก', '\u200d', '\u202e', '\ufe0f', '\ue000', '\n', '\u1100', '\ud800'])
    it(`are not set, or not one by one: ${JSON.stringify(letter)}`, () => {
      expect(isSetPlainly(letter.codePointAt(0) as number)).toBe(false)
    })
})

describe('texts by font', () => {
  it('are set in the first font that has a letter with all its marks', () => {
    expect(runsOf('Łódź')).toEqual(['latin-ext: Ł', 'latin: ód', 'latin-ext: ź'])
    expect(runsOf('Киев 2026')).toEqual(['cyrillic: Киев ', 'latin: 2026'])
    expect(runsOf('x\u0302 ☺')).toEqual(['dejavu: x\u0302 ☺'])
    expect(runsOf('')).toEqual([])
  })

  it('are put together from their runs', () => {
    const letters = fc.constantFrom(...'aß Жω漢é'.replace('漢', ''), 'x\u0302', '☺', 'ệ', '\u00a0')
    fc.assert(
      fc.property(fc.array(letters), (parts) => {
        const text = parts.join('')
        expect(
          textRuns(faces, text)
            .map((run) => run.text)
            .join(''),
        ).toBe(text)
        expect(unsettableIn(faces, text)).toEqual([])
      }),
    )
  })

  it('name each letter that no font has once', () => {
    expect(unsettableIn(faces, '漢a\n字漢')).toEqual(['漢', '字'])
  })
})

describe('fonts in WOFF', () => {
  it('are the font inside, table by table', () => {
    const font = Buffer.from(plainFont(readFileSync(BUILT_IN_FILES.latin.regular)))
    expect(font.readUInt32BE(0)).toBe(0x00010000)
    const tables = Array.from({ length: font.readUInt16BE(4) }, (_, i) => font.subarray(12 + 16 * i, 28 + 16 * i))
    expect(tables.map((entry) => entry.toString('latin1', 0, 4))).toEqual(
      expect.arrayContaining(['cmap', 'glyf', 'head']),
    )
    for (const entry of tables) {
      if (entry.toString('latin1', 0, 4) === 'head') continue
      const table = font.subarray(entry.readUInt32BE(8), entry.readUInt32BE(8) + entry.readUInt32BE(12))
      expect(sumOf(table)).toBe(entry.readUInt32BE(4))
    }
  })

  it('are left alone where they are none, and fail where they are cut', () => {
    const plain = readFileSync(BUILT_IN_FILES.dejavu.regular)
    expect(plainFont(plain)).toBe(plain)
    expect(() => plainFont(readFileSync(BUILT_IN_FILES.latin.regular).subarray(0, 2_000))).toThrow(
      'the font file is cut',
    )
  })
})

/** Checksum of a font table (https://learn.microsoft.com/typography/opentype/spec/otff#calculating-checksums). */
function sumOf(table: Buffer): number {
  const padded = Buffer.concat([table, Buffer.alloc((4 - (table.length % 4)) % 4)])
  let sum = 0
  for (let at = 0; at < padded.length; at += 4) sum = (sum + padded.readUInt32BE(at)) >>> 0
  return sum
}
