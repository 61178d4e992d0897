import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** A font that claims to have only these letters. Each has the shape of another letter. */
export function fontWith(letters: string): Uint8Array {
  const font = readFileSync(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'))
  const map = characterMap([...new Set(letters)].map((letter) => letter.codePointAt(0) as number).sort((a, b) => a - b))
  for (let entry = 12; entry < 12 + 16 * font.readUInt16BE(4); entry += 16)
    if (font.toString('latin1', entry, entry + 4) === 'cmap') {
      font.writeUInt32BE(font.length, entry + 8)
      font.writeUInt32BE(map.length, entry + 12)
    }
  return Buffer.concat([font, map])
}

const FIRST_GLYPH = 40

/** A table in format 12 (https://learn.microsoft.com/typography/opentype/spec/cmap#format-12-segmented-coverage). */
function characterMap(codePoints: readonly number[]): Buffer {
  const map = Buffer.alloc(28 + 12 * codePoints.length)
  map.writeUInt16BE(1, 2)
  map.writeUInt16BE(3, 4)
  map.writeUInt16BE(10, 6)
  map.writeUInt32BE(12, 8)
  map.writeUInt16BE(12, 12)
  map.writeUInt32BE(map.length - 12, 16)
  map.writeUInt32BE(codePoints.length, 24)
  for (const [i, codePoint] of codePoints.entries()) {
    map.writeUInt32BE(codePoint, 28 + 12 * i)
    map.writeUInt32BE(codePoint, 32 + 12 * i)
    map.writeUInt32BE(FIRST_GLYPH + i, 36 + 12 * i)
  }
  return map
}
