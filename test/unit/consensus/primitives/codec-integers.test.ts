import { describe, expect, it } from 'vitest'
import type { Amount } from '../../../../consensus/primitives/amount.ts'
import { concat, toHex, uintLE } from '../../../../consensus/primitives/bytes.ts'
import {
  bool,
  type Codec,
  decode,
  decodeOwn,
  encode,
  safeUint64,
  uint8,
  uint16,
  uint32,
  uint64,
  uint128,
  uint256,
} from '../../../../consensus/primitives/codec.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'

const malformed = (type: string, reason: string) => ({ ok: false, fault: fault('codec/malformed', { type, reason }) })

const NUMBERS: readonly [string, Codec<number>, number, number][] = [
  ['uint8', uint8, 1, 2 ** 8 - 1],
  ['uint16', uint16, 2, 2 ** 16 - 1],
  ['uint32', uint32, 4, 2 ** 32 - 1],
  ['uint64', safeUint64, 8, 2 ** 53 - 1],
]

describe.each(NUMBERS)('a number in a %s', (type, codec, length, max) => {
  const inside = [0, 1, 2, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 52, max - 1, max]

  it('is written little-endian and reads back, from 0 to the end of its range', () => {
    for (const value of inside.filter((each) => each <= max)) {
      const bytes = encode(codec, value)
      expect(toHex(bytes)).toBe(toHex(uintLE(BigInt(value), length)))
      expect(decode(codec, bytes)).toEqual({ ok: true, value })
      expect(decodeOwn(codec, bytes)).toBe(value)
    }
  })

  it('is never written out of its range, wrapped or rounded', () => {
    const outside = [-1, -(2 ** 31), max + 1, 2 ** 64, 0.5, max + 0.5, Number.NaN, Number.POSITIVE_INFINITY]
    for (const value of outside.filter((each) => each > max || each < 0 || !Number.isInteger(each)))
      expect(() => encode(codec, value)).toThrow(new RangeError(`${value} is not a ${type}`))
    for (const value of ['1', 1n, null, undefined, true, {}])
      expect(() => encode(codec, value as never), String(value)).toThrow(RangeError)
  })

  it('is refused with any other number of bytes', () => {
    for (const wrong of [0, 1, 2, 3, 4, 5, 7, 8, 9, 16].filter((each) => each !== length)) {
      const reason = `BasicType invalid size ${wrong} expected ${length}`
      expect(decode(codec, new Uint8Array(wrong))).toEqual(malformed(type, reason))
    }
  })
})

describe('a number of 64 bits that must be safe', () => {
  it('is refused from 2^53 on: two encodings would read as one number', () => {
    const refused = [2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]
    for (const value of refused)
      expect(decode(safeUint64, uintLE(value, 8))).toEqual(malformed('uint64', 'integer above 2^53 - 1'))
    expect(() => decodeOwn(safeUint64, uintLE(2n ** 53n, 8))).toThrow(new RangeError('integer above 2^53 - 1'))
  })
})

const BIG: readonly [string, Codec<bigint>, number][] = [
  ['uintBigint64', uint64, 8],
  ['uintBigint128', uint128 as Codec<Amount> as Codec<never> as Codec<bigint>, 16],
  ['uintBigint256', uint256, 32],
]

describe.each(BIG)('an integer in a %s', (type, codec, length) => {
  const bits = BigInt(8 * length)
  const max = (1n << bits) - 1n

  it('is written little-endian and reads back, from 0 to the end of its range', () => {
    for (let bit = 0n; bit < bits; bit++) {
      for (const value of [1n << bit, (1n << bit) - 1n, max - (1n << bit)]) {
        const bytes = encode(codec, value)
        expect(toHex(bytes)).toBe(toHex(uintLE(value, length)))
        expect(decode(codec, bytes)).toEqual({ ok: true, value })
      }
    }
    expect(decode(codec, encode(codec, max))).toEqual({ ok: true, value: max })
  })

  it('is never written out of its range', () => {
    for (const value of [-1n, -(1n << 200n), max + 1n, (max + 1n) * 2n, 1n << 300n])
      expect(() => encode(codec, value)).toThrow(new RangeError(`${value} is not a uint${bits}`))
    for (const value of [1, '1', null, undefined]) expect(() => encode(codec, value as never), String(value)).toThrow()
  })

  it('is refused with any other number of bytes', () => {
    for (const wrong of [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64].filter((each) => each !== length)) {
      const reason = `Invalid size ${wrong} expected ${length}`
      expect(decode(codec, new Uint8Array(wrong))).toEqual(malformed(type, reason))
    }
  })
})

describe('a boolean', () => {
  it('is one byte, 0 or 1, and no other byte', () => {
    expect([encode(bool, false), encode(bool, true)].map(toHex)).toEqual(['00', '01'])
    expect(decode(bool, Uint8Array.of(0))).toEqual({ ok: true, value: false })
    expect(decode(bool, Uint8Array.of(1))).toEqual({ ok: true, value: true })
    for (let byte = 2; byte < 256; byte++)
      expect(decode(bool, Uint8Array.of(byte))).toEqual(malformed('boolean', `Boolean: invalid value: ${byte}`))
  })

  it('is refused with any other number of bytes', () => {
    for (const bytes of [new Uint8Array(0), new Uint8Array(2), concat(Uint8Array.of(1), new Uint8Array(3))])
      expect(decode(bool, bytes)).toEqual(malformed('boolean', `BasicType invalid size ${bytes.length} expected 1`))
  })
})
