/** Text in consensus is printable UTF-8. This program checks it itself: decoders that differ would split the chain. */

/** Whether every byte is printable ASCII, 0x20 to 0x7e. */
export function isPrintableAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 && byte <= 0x7e)
}

/**
 * Decodes well-formed UTF-8 (Unicode 16, table 3-7: no overlong forms, no surrogates, at most U+10FFFF). Invisible
 * characters are refused: they could make one registry entry look like another. Undefined if refused.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  let text = ''
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i] as number
    const length = sequenceLength(lead)
    if (length === 0 || i + length > bytes.length) return undefined
    const codePoint = readSequence(bytes, i, length)
    if (codePoint === undefined || !isPrintable(codePoint)) return undefined
    text += String.fromCodePoint(codePoint)
    i += length
  }
  return text
}

/** Lone surrogates become U+FFFD. */
export function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Whether a consensus field of at most `bytesMax` bytes can hold the text. A field may have a narrower grammar. */
export function fitsText(text: string, bytesMax: number): boolean {
  const bytes = encodeText(text)
  return bytes.length <= bytesMax && decodeText(bytes) === text
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1
  if (lead >= 0xc2 && lead <= 0xdf) return 2
  if (lead >= 0xe0 && lead <= 0xef) return 3
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
}

const LEAST_CODE_POINT = [0, 0, 0x80, 0x800, 0x10000]

function readSequence(bytes: Uint8Array, start: number, length: number): number | undefined {
  const lead = bytes[start] as number
  if (length === 1) return lead
  let codePoint = lead & (0x7f >> length)
  for (let i = 1; i < length; i++) {
    const next = bytes[start + i] as number
    if ((next & 0xc0) !== 0x80) return undefined
    codePoint = (codePoint << 6) | (next & 0x3f)
  }
  const surrogate = codePoint >= 0xd800 && codePoint <= 0xdfff
  return codePoint < (LEAST_CODE_POINT[length] as number) || codePoint > 0x10ffff || surrogate ? undefined : codePoint
}

/**
 * Code points that no text may hold: controls, all spaces but U+0020, and characters that are not seen, such as joiners,
 * directional marks, fillers, variation selectors and tags.
 */
const INVISIBLE: readonly (readonly [number, number])[] = [
  [0x00, 0x1f],
  [0x7f, 0xa0],
  [0xad, 0xad],
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

function isPrintable(codePoint: number): boolean {
  return !INVISIBLE.some(([first, last]) => codePoint >= first && codePoint <= last)
}
