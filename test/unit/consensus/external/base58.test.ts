import { createBase58check } from '@scure/base'
import { describe, expect, it } from 'vitest'
import {
  BASE58_BYTES_MAX,
  BASE58_CHARS_MAX,
  decodeBase58,
  decodeBase58Check,
  encodeBase58,
} from '../../../../consensus/external/base58.ts'
import { AssertionError } from '../../../../consensus/primitives/assert.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { sha256, unhex } from '../../../vectors/generate/bytes.ts'

/** From the base58 draft of the IETF and the tests of Bitcoin Core. */
const PAIRS: readonly (readonly [Uint8Array, string])[] = [
  [unhex(''), ''],
  [unhex('61'), '2g'],
  [unhex('626262'), 'a3gV'],
  [unhex('73696d706c792061206c6f6e6720737472696e67'), '2cFupjhnEsSn59qHXstmK2ffpLv2'],
  [unhex('00eb15231dfceb60925886b67d065299925915aeb172c06647'), '1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L'],
  [unhex('516b6fcd0f'), 'ABnLTmg'],
  [unhex('572e4794'), '3EFU7m'],
  [unhex('00000000000000000000'), '1111111111'],
  [encodeText('Hello World!'), '2NEpo7TZRRrLZSi2U'],
  [
    encodeText('The quick brown fox jumps over the lazy dog.'),
    'USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z',
  ],
  [unhex('0000287fb4cd'), '11233QC4'],
]

describe('base58', () => {
  it.for(PAIRS)('of %o is %s', ([bytes, text]) => {
    expect(encodeBase58(bytes)).toBe(text)
    expect(decodeBase58(text)).toEqual(bytes)
  })

  it('has no other characters than its 58', () => {
    const codes = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code))
    const taken = codes.filter((character) => decodeBase58(character) !== undefined)
    expect(taken.join('')).toBe('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
  })

  it('is read up to its greatest length, and no further', () => {
    expect(decodeBase58('z'.repeat(BASE58_CHARS_MAX))?.length).toBe(66)
    expect(decodeBase58('1'.repeat(BASE58_CHARS_MAX))).toEqual(new Uint8Array(90))
    expect(decodeBase58('1'.repeat(BASE58_CHARS_MAX + 1))).toBeUndefined()
    expect(decodeBase58('z'.repeat(1_000_000))).toBeUndefined()
  })

  it('is written of at most 64 bytes; more is a bug', () => {
    expect(encodeBase58(new Uint8Array(BASE58_BYTES_MAX).fill(255)).length).toBe(88)
    expect(() => encodeBase58(new Uint8Array(BASE58_BYTES_MAX + 1))).toThrow(AssertionError)
  })
})

describe('base58check', () => {
  const other = createBase58check(sha256)

  it('gives the bytes before the checksum', () => {
    expect(decodeBase58Check('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toEqual(
      unhex('0062e907b15cbf27d5425399ebf6f0fb50ebb88f18'),
    )
    for (let length = 0; length <= 40; length++) {
      const content = new Uint8Array(length).fill(length)
      expect(decodeBase58Check(other.encode(content))).toEqual(content)
    }
  })

  it('refuses any bit of the checksum that is off', () => {
    const sound = decodeBase58('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa') as Uint8Array
    for (let bit = 0; bit < 32; bit++) {
      const at = 21 + (bit >> 3)
      const changed = sound.with(at, (sound[at] as number) ^ (1 << (bit & 7)))
      expect(decodeBase58Check(encodeBase58(changed))).toBeUndefined()
    }
  })

  it.for(['', '1', '111', 'zzz', '1111', '0', ' ', 'é', 'z'.repeat(91)])('refuses %o', (text) => {
    expect(decodeBase58Check(text)).toBeUndefined()
  })
})
