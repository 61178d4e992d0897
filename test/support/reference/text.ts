import { demand } from './bytes.ts'

/** Lead byte range, then the ranges of the bytes that follow: table 3-7 of Unicode 16. */
const UTF8_FORMS: readonly (readonly (readonly [number, number])[])[] = [
  [[0x00, 0x7f]],
  [
    [0xc2, 0xdf],
    [0x80, 0xbf],
  ],
  [
    [0xe0, 0xe0],
    [0xa0, 0xbf],
    [0x80, 0xbf],
  ],
  [
    [0xe1, 0xec],
    [0x80, 0xbf],
    [0x80, 0xbf],
  ],
  [
    [0xed, 0xed],
    [0x80, 0x9f],
    [0x80, 0xbf],
  ],
  [
    [0xee, 0xef],
    [0x80, 0xbf],
    [0x80, 0xbf],
  ],
  [
    [0xf0, 0xf0],
    [0x90, 0xbf],
    [0x80, 0xbf],
    [0x80, 0xbf],
  ],
  [
    [0xf1, 0xf3],
    [0x80, 0xbf],
    [0x80, 0xbf],
    [0x80, 0xbf],
  ],
  [
    [0xf4, 0xf4],
    [0x80, 0x8f],
    [0x80, 0xbf],
    [0x80, 0xbf],
  ],
]

/** Invisible code points, which text must not have. */
const INVISIBLE: readonly (readonly [number, number])[] = [
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

const LEAD_MASK = [0, 0x7f, 0x1f, 0x0f, 0x07]

const within = (value: number | undefined, [low, high]: readonly [number, number]): boolean =>
  value !== undefined && value >= low && value <= high

/** Text of visible, well-formed UTF-8 (encoding.md, section 2); refuses anything else. */
export function decodeText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const form = UTF8_FORMS.find((ranges) => ranges.every((range, i) => within(bytes[at + i], range)))
    demand(form !== undefined, 'text: not UTF-8')
    let point = (bytes[at] as number) & (LEAD_MASK[form.length] as number)
    for (let i = 1; i < form.length; i++) point = point * 64 + ((bytes[at + i] as number) & 0x3f)
    demand(!INVISIBLE.some((range) => within(point, range)), 'text: invisible')
    text += String.fromCodePoint(point)
    at += form.length
  }
  return text
}

/** Grammars of encoding.md, section 2. */
export const GRAMMAR = {
  agentId: /^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$/,
  serviceId: /^[a-z][a-z0-9-]{2,46}[a-z0-9]$/,
  symbol: /^[A-Z][A-Z0-9]{1,9}$/,
  endpoint: /^(https?:\/\/[\x21-\x7e]{1,192})?$/,
} as const
