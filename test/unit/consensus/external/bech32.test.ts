import { bech32, bech32m } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { type Bech32Text, bytesOfGroups, decodeBech32 } from '../../../../consensus/external/bech32.ts'

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const LIBRARIES = { bech32, bech32m }

/** Splits a text at its last separator, without knowing the prefix. */
function decodeAny(text: string): Bech32Text | undefined {
  return decodeBech32(text.slice(0, text.lastIndexOf('1')), text)
}

/** Valid lower-case texts of BIP-173 and BIP-350. */
const SOUND: Readonly<Record<'bech32' | 'bech32m', readonly string[]>> = {
  bech32: [
    'a12uel5l',
    'an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs',
    'abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw',
    '11qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqc8247j',
    'split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w',
    '?1ezyfcl',
  ],
  bech32m: [
    'a1lqfn3a',
    'an83characterlonghumanreadablepartthatcontainsthetheexcludedcharactersbioandnumber11sg7hg6',
    'abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx',
    '11llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllludsr8',
    'split1checkupstagehandshakeupstreamerranterredcaperredlc445v',
    '?1v759aa',
  ],
}

/** Invalid texts of BIP-173 and BIP-350, without those whose prefix is wrong: the caller gives the prefix. */
const UNSOUND: readonly string[] = [
  'an84characterslonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1569pvx',
  'an84characterslonghumanreadablepartthatcontainsthetheexcludedcharactersbioandnumber11d6pts4',
  'pzry9x0s0muk',
  'qyrz8wqd2c9m',
  'x1b4n0q5v',
  'y1b0jsk6g',
  'lt1igcx5c0',
  'li1dgmt3',
  'in1muywd',
  'de1lg7wt\u00ff',
  'mm1crxm3i',
  'au1s5cgom',
  'a1g7sgd8',
  'm1vuxwez',
  'A12UEL5L',
  'A1LQFN3A',
  'a12UEL5L',
]

describe('bech32 and bech32m', () => {
  for (const checksum of ['bech32', 'bech32m'] as const) {
    it.for(SOUND[checksum])(`${checksum}: %s`, (text) => {
      const { words } = LIBRARIES[checksum].decode(text as `${string}1${string}`)
      expect(decodeAny(text)).toEqual({ checksum, groups: words })
    })
  }

  it.for(UNSOUND)('refuses %o', (text) => {
    expect(decodeAny(text)).toBeUndefined()
  })

  it('refuses a prefix that is not the one asked for', () => {
    expect(decodeBech32('b', 'a12uel5l')).toBeUndefined()
    expect(decodeBech32('', 'a12uel5l')).toBeUndefined()
    expect(decodeBech32('a1', 'a12uel5l')).toBeUndefined()
    expect(decodeBech32('a', '')).toBeUndefined()
    expect(decodeBech32('a', 'a1')).toBeUndefined()
  })

  it('refuses every other character at every place', () => {
    const text = 'abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw'
    for (let code = 0; code < 0x200; code++) {
      const character = String.fromCharCode(code)
      for (let at = 0; at < text.length; at++) {
        if (text[at] === character) continue
        expect(decodeBech32('abcdef', text.slice(0, at) + character + text.slice(at + 1))).toBeUndefined()
      }
    }
  })
})

describe('a changed character', () => {
  /**
   * The checksum is linear: the effect of a change depends only on its position, the difference of the values and the
   * number of characters after it. So all differences at all positions of one text cover every text of that length.
   */
  it.for([
    ['bc', 39],
    ['bc', 59],
    ['ltc', 39],
    ['ltc', 59],
  ] as const)('behind %s is found in every text of %i characters', ([prefix, length]) => {
    for (const codec of [bech32, bech32m]) {
      const text = codec.encode(prefix, new Array(length - 6).fill(0))
      const start = prefix.length + 1
      expect(text.length).toBe(start + length)
      for (let at = start; at < text.length; at++) {
        const value = LETTERS.indexOf(text[at] as string)
        for (let difference = 1; difference < 32; difference++) {
          const changed = text.slice(0, at) + LETTERS[value ^ difference] + text.slice(at + 1)
          expect(decodeBech32(prefix, changed)).toBeUndefined()
        }
      }
    }
  })
})

describe('bytes of five-bit groups', () => {
  it('are those of the library at every length', () => {
    for (let length = 0; length <= 40; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 73 + 255) & 255)
      expect(bytesOfGroups(bech32.toWords(bytes))).toEqual(bytes)
    }
  })

  it('are refused with any bit of padding set', () => {
    // 1, 2, 3 and 4 bytes leave 2, 4, 1 and 3 bits over.
    for (const [length, bits] of [
      [1, 2],
      [2, 4],
      [3, 1],
      [4, 3],
    ] as const) {
      const groups = bech32.toWords(new Uint8Array(length).fill(170))
      for (let bit = 0; bit < bits; bit++) {
        const last = (groups.at(-1) as number) | (1 << bit)
        expect(bytesOfGroups([...groups.slice(0, -1), last])).toBeUndefined()
      }
    }
  })

  it('are refused with five bits of padding or more', () => {
    expect(bytesOfGroups([0])).toBeUndefined()
    expect(bytesOfGroups([...bech32.toWords(new Uint8Array(5)), 0])).toBeUndefined()
    expect(bytesOfGroups([...bech32.toWords(new Uint8Array(4)), 0])).toEqual(new Uint8Array(5))
    expect(bytesOfGroups([...bech32.toWords(new Uint8Array(1)), 0])).toBeUndefined()
  })
})
