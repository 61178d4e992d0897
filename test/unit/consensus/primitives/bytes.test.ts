import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compare,
  concat,
  copy,
  equal,
  fromHex,
  isHex,
  readUintBE,
  toHex,
  uint32LE,
  uintBE,
  uintLE,
  ZERO_32,
  ZERO_HEX_32,
} from '../../../../consensus/primitives/bytes.ts'

const bytes = fc.uint8Array({ maxLength: 80 })

describe('hex', () => {
  it('is lower case and reads back', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        const hex = toHex(value)
        expect(hex).toBe(Buffer.from(value).toString('hex'))
        expect(fromHex(hex)).toEqual(value)
        expect(isHex(hex, value.length)).toBe(true)
        expect(isHex(hex, value.length + 1)).toBe(false)
      }),
      { numRuns: 200 },
    )
    expect(toHex(ZERO_32)).toBe(ZERO_HEX_32)
  })

  it.for(['a', 'abc', 'zz', '0x12', ' 12', '12 ', '1 2 ', '12\n', 'é0', '\uff11\uff12', '1g', '--', '+1'])(
    'throws on %j',
    (text) => {
      expect(() => fromHex(text)).toThrow()
      expect(isHex(text, Math.ceil(text.length / 2))).toBe(false)
    },
  )

  it('throws on upper case: one value has one spelling', () => {
    expect(isHex('AB', 1)).toBe(false)
    expect(isHex('aB', 1)).toBe(false)
    expect(() => fromHex('AB')).toThrow()
    expect(() => fromHex('aB')).toThrow()
  })
})

describe('byte strings', () => {
  it('join in order, into memory of their own', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), (parts) => {
        const joined = concat(...parts)
        expect(toHex(joined)).toBe(parts.map(toHex).join(''))
        joined.fill(1)
        expect(concat(...parts).length).toBe(joined.length)
      }),
      { numRuns: 100 },
    )
  })

  it('are equal when length and bytes are', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(equal(a, b)).toBe(toHex(a) === toHex(b))
        expect(equal(a, copy(a))).toBe(true)
        expect(equal(a, concat(a, Uint8Array.of(0)))).toBe(false)
      }),
      { numRuns: 200 },
    )
  })

  it('are ordered as unsigned big-endian numbers of one length', () => {
    const pair = fc.nat({ max: 9 }).chain((length) => {
      const one = fc.uint8Array({ minLength: length, maxLength: length })
      return fc.tuple(one, one)
    })
    fc.assert(
      fc.property(pair, ([a, b]) => {
        expect(Math.sign(compare(a, b))).toBe(Buffer.compare(a, b))
        expect(Math.sign(compare(b, a))).toBe(Buffer.compare(b, a))
        const order = readUintBE(a) - readUintBE(b)
        expect(Math.sign(compare(a, b))).toBe(order < 0n ? -1 : order > 0n ? 1 : 0)
      }),
      { numRuns: 300 },
    )
    expect(compare(Uint8Array.of(0x80), Uint8Array.of(0x7f))).toBeGreaterThan(0)
  })

  it('are copied out of the buffer that they are a view on, whatever class that has', () => {
    const large = Buffer.alloc(1_000, 7)
    const taken = copy(large.subarray(10, 12))
    expect([taken.length, taken.buffer.byteLength]).toEqual([2, 2])
    large.fill(0)
    expect(toHex(taken)).toBe('0707')
  })
})

describe('unsigned integers in bytes', () => {
  it('are little- and big-endian of exactly the length asked for', () => {
    const number = fc
      .integer({ min: 0, max: 40 })
      .chain((length) => fc.tuple(fc.constant(length), fc.bigInt({ min: 0n, max: (1n << BigInt(8 * length)) - 1n })))
    fc.assert(
      fc.property(number, ([length, value]) => {
        const [little, big] = [uintLE(value, length), uintBE(value, length)]
        expect([little.length, big.length]).toEqual([length, length])
        expect(toHex(big)).toBe(length === 0 ? '' : value.toString(16).padStart(2 * length, '0'))
        expect(toHex(little.toReversed())).toBe(toHex(big))
        expect(readUintBE(big)).toBe(value)
      }),
      { numRuns: 300 },
    )
  })

  it('of 32 bits go from 0 to 2^32 - 1', () => {
    for (const value of [0, 1, 255, 256, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])
      expect(toHex(uint32LE(value))).toBe(toHex(uintLE(BigInt(value), 4)))
  })

  it('that are empty read as 0', () => {
    expect(readUintBE(new Uint8Array(0))).toBe(0n)
  })
})
