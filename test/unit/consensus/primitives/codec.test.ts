import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, equal, fromHex, toHex, uint32LE } from '../../../../consensus/primitives/bytes.ts'
import {
  bool,
  byteList,
  byteVector,
  type Codec,
  container,
  decode,
  decodeOwn,
  encode,
  hex32,
  list,
  safeUint64,
  text,
  uint8,
  uint16,
  uint32,
  uint64,
} from '../../../../consensus/primitives/codec.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'

const malformed = (type: string, reason: string) => ({ ok: false, fault: fault('codec/malformed', { type, reason }) })
const WORD = text(8, (value) => /^[a-z]*$/.test(value))

const INNER = container('Inner', { id: uint16, name: WORD, tail: byteList(4) })
const OUTER = container('Outer', {
  flag: bool,
  inners: list(INNER, 3),
  at: safeUint64,
  hash: hex32<string>(),
  numbers: list(uint16, 4),
  pairs: list(container('Pair', { a: uint8, b: uint64 }), 2),
  raw: byteVector(2),
  memo: byteList(5),
})

const VALUE = {
  flag: true,
  inners: [
    { id: 1, name: 'one', tail: Uint8Array.of(1, 2) },
    { id: 2, name: '', tail: new Uint8Array(0) },
  ],
  at: 2 ** 53 - 1,
  hash: 'ab'.repeat(32),
  numbers: [1, 65_535],
  pairs: [{ a: 255, b: 2n ** 64n - 1n }],
  raw: Uint8Array.of(8, 9),
  memo: Uint8Array.of(7),
}

/** {@link VALUE} written out by hand. */
const BYTES = fromHex(
  [
    '01', // flag
    '3b000000', // offset of inners
    'ffffffffffff1f00', // at
    'ab'.repeat(32), // hash
    '5c000000', // offset of numbers
    '60000000', // offset of pairs
    '0809', // raw
    '69000000', // offset of memo
    '08000000', // inners: offset of the first
    '17000000', // offset of the second
    '01000a0000000d000000', // first: id, offsets
    '6f6e65', // name
    '0102', // tail
    '02000a0000000a000000', // second: id, offsets
    '0100ffff', // numbers
    'ffffffffffffffffff', // pairs
    '07', // memo
  ].join(''),
)

describe('a container', () => {
  it('has the encoding that SSZ gives it, and reads back', () => {
    expect(toHex(encode(OUTER, VALUE))).toBe(toHex(BYTES))
    expect(decode(OUTER, BYTES)).toEqual({ ok: true, value: VALUE })
    expect(decodeOwn(OUTER, BYTES)).toEqual(VALUE)
  })

  it('reads the same out of a larger buffer, and of a Buffer', () => {
    const larger = concat(new Uint8Array(3).fill(255), BYTES, new Uint8Array(5).fill(255))
    const value = decode(OUTER, larger.subarray(3, 3 + BYTES.length))
    expect(value).toEqual({ ok: true, value: VALUE })
    const fromBuffer = decode(OUTER, Buffer.from(BYTES))
    if (!fromBuffer.ok) throw new Error(fromBuffer.fault.code)
    expect([...fromBuffer.value.memo, ...fromBuffer.value.raw]).toEqual([7, 8, 9])
  })

  it('gives byte fields as views on what was decoded', () => {
    const bytes = Uint8Array.from(BYTES)
    const decoded = decode(OUTER, bytes)
    if (!decoded.ok) throw new Error(decoded.fault.code)
    for (const view of [decoded.value.memo, decoded.value.raw, decoded.value.inners[0]?.tail as Uint8Array])
      expect(view.buffer).toBe(bytes.buffer)
  })

  it('is refused at every cut, with nothing thrown', () => {
    for (let length = 0; length < BYTES.length; length++) {
      const decoded = decode(OUTER, BYTES.subarray(0, length))
      // Only a cut inside the last list leaves a valid encoding: a shorter memo.
      if (length === BYTES.length - 1)
        expect(decoded).toEqual({ ok: true, value: { ...VALUE, memo: new Uint8Array(0) } })
      else expect(decoded.ok ? length : decoded.fault.code).toBe('codec/malformed')
    }
  })

  it('throws on damage of what the node wrote itself', () => {
    expect(() => decodeOwn(OUTER, BYTES.subarray(1))).toThrow()
    expect(() => decodeOwn(OUTER, new Uint8Array(0))).toThrow()
  })
})

/** {@link BYTES} with some bytes replaced. */
function patched(...patches: readonly (readonly [number, string])[]): Uint8Array {
  const bytes = Uint8Array.from(BYTES)
  for (const [at, hex] of patches) bytes.set(fromHex(hex), at)
  return bytes
}

describe('a container with a fault anywhere is refused', () => {
  const cases: readonly [string, Uint8Array, string][] = [
    ['a boolean of 2', patched([0, '02']), 'Boolean: invalid value: 2'],
    ['an integer of 2^53', patched([5, '0000000000002000']), 'integer above 2^53 - 1'],
    ['a first offset one low', patched([1, '3a']), 'First offset must equal to fixedEnd 58 != 59'],
    ['a first offset one high', patched([1, '3c']), 'First offset must equal to fixedEnd 60 != 59'],
    ['a first offset of 0', patched([1, '00']), 'First offset must equal to fixedEnd 0 != 59'],
    ['a falling offset', patched([45, '3a']), 'Offsets must be increasing 58 < 59'],
    ['an offset behind the end', patched([55, '6e']), 'Offset out of bounds 110 > 106'],
    ['an offset of 2^32 - 1', patched([55, 'ffffffff']), 'Offset out of bounds 4294967295 > 106'],
    ['a memo too long', concat(BYTES, fromHex('0102030405')), 'ByteList invalid size 6 limit 5'],
    ['half a number in a list', patched([49, '5f']), 'size not multiple of element fixedSize'],
    ['half a pair in a list', patched([55, '68']), 'size 8 is not multiple of element fixedSize 9'],
    ['a list whose first offset is 0', patched([59, '00']), 'First offset must be > 0'],
    ['a list whose first offset is odd', patched([59, '09']), 'Offset data length not multiple of 4'],
    ['a list whose first offset lies outside', patched([59, '24']), 'Offset out of bounds 36 > 33'],
    ['a list with a falling offset', patched([63, '04']), 'Offsets must be increasing 4 < 8'],
    ['a list with an offset behind its end', patched([63, '22']), 'Offset out of bounds 34 > 33'],
    ['an element whose first offset leaves a gap', patched([69, '0b']), 'First offset must equal to fixedEnd 11 != 10'],
    ['an element whose offsets fall', patched([73, '09']), 'Offsets must be increasing 9 < 10'],
    ['text outside its grammar', patched([77, '4f']), 'text outside its grammar'],
    ['text that is no UTF-8', patched([77, 'ff']), 'text outside its grammar'],
    ['text with a control character', patched([77, '0a']), 'text outside its grammar'],
  ]

  it.for(cases)('%s', ([, bytes, reason]) => {
    expect(decode(OUTER, bytes)).toEqual(malformed('Outer', reason))
  })
})

describe('every value has one encoding', () => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength })
  const exact = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
  const word = fc.string({ unit: fc.constantFrom(...'abcxyz'), maxLength: 8 })
  const value = fc.record({
    flag: fc.boolean(),
    inners: fc.array(fc.record({ id: fc.nat({ max: 65_535 }), name: word, tail: bytes(4) }), { maxLength: 3 }),
    at: fc.maxSafeNat(),
    hash: exact(32).map(toHex),
    numbers: fc.array(fc.nat({ max: 65_535 }), { maxLength: 4 }),
    pairs: fc.array(fc.record({ a: fc.nat({ max: 255 }), b: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }), {
      maxLength: 2,
    }),
    raw: exact(2),
    memo: bytes(5),
  })

  it('reads back what was written', () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(decode(OUTER, encode(OUTER, one))).toEqual({ ok: true, value: one })
      }),
      { numRuns: 500 },
    )
  })

  it('so that damaged bytes are refused or are the encoding of another value', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 })
    let accepted = 0
    fc.assert(
      fc.property(value, damage, fc.integer({ min: -3, max: 3 }), (one, patches, stretch) => {
        const good = encode(OUTER, one)
        const damaged = concat(
          good.subarray(0, good.length + Math.min(0, stretch)),
          new Uint8Array(Math.max(0, stretch)),
        )
        for (const [at, byte] of patches) damaged[at % damaged.length] = byte
        const decoded = decode(OUTER, damaged)
        if (!decoded.ok) {
          expect(decoded.fault.code).toBe('codec/malformed')
          return
        }
        accepted++
        expect(equal(encode(OUTER, decoded.value), damaged)).toBe(true)
      }),
      { numRuns: 3_000 },
    )
    expect(accepted).toBeGreaterThan(300)
  })

  it('and random bytes never throw', () => {
    fc.assert(
      fc.property(bytes(200), (noise) => {
        const decoded = decode(OUTER, noise)
        if (decoded.ok) expect(equal(encode(OUTER, decoded.value), noise)).toBe(true)
        else expect(decoded.fault.code).toBe('codec/malformed')
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('lists and byte strings', () => {
  it('may be empty and full, and not longer', () => {
    const cases: readonly [Codec<never>, number, string][] = [
      [list(uint8, 3) as never, 3, 'List[uint8, 3]'],
      [list(uint32, 3) as never, 12, 'List[uint32, 3]'],
      [byteList(3) as never, 3, 'ByteList[3]'],
      [text(3) as never, 3, 'ByteList[3]'],
    ]
    for (const [codec, full, type] of cases) {
      const filled = new Uint8Array(full).fill(0x61)
      expect(decode(codec, new Uint8Array(0)).ok).toBe(true)
      expect(decode(codec, filled).ok).toBe(true)
      const reason = type.startsWith('List') ? 'Invalid list length 4 over limit 3' : 'ByteList invalid size 4 limit 3'
      const more = new Uint8Array((full / 3) * 4).fill(0x61)
      expect(decode(codec, more)).toEqual(malformed(type, reason))
    }
  })

  it('of variable elements may be full, and not longer', () => {
    const codec = list(byteList(4), 2)
    const two = [Uint8Array.of(1), new Uint8Array(0)]
    expect(decode(codec, encode(codec, two))).toEqual({ ok: true, value: two })
    const three = concat(uint32LE(12), uint32LE(12), uint32LE(12))
    expect(decode(codec, three)).toEqual(malformed('List[ByteList[4], 2]', 'Invalid list length 3 over limit 2'))
  })

  it('claim no more memory than they have bytes', () => {
    const codec = list(byteList(4), 2 ** 30)
    expect(decode(codec, fromHex('fcffffff'))).toEqual(
      malformed('List[ByteList[4], 1073741824]', 'Offset out of bounds 4294967292 > 4'),
    )
  })

  it('of fixed length have that length', () => {
    for (const length of [0, 1, 3, 64]) {
      const reason = `ByteVector invalid size ${length} expected 2`
      expect(decode(byteVector(2), new Uint8Array(length))).toEqual(malformed('ByteVector[2]', reason))
    }
  })

  it('of 32 bytes can be hex', () => {
    const hex = 'c0'.repeat(32)
    expect(toHex(encode(hex32(), hex))).toBe(hex)
    expect(decode(hex32(), fromHex(hex))).toEqual({ ok: true, value: hex })
    for (const length of [31, 33]) {
      const reason = `ByteVector invalid size ${length} expected 32`
      expect(decode(hex32(), new Uint8Array(length))).toEqual(malformed('ByteVector[32]', reason))
    }
  })
})

describe('what is out of range is never written', () => {
  const cases: readonly [string, () => Uint8Array][] = [
    ['hex of more than 32 bytes', () => encode(hex32(), 'ab'.repeat(33))],
    ['hex of fewer than 32 bytes', () => encode(hex32(), 'ab'.repeat(31))],
    ['no hex', () => encode(hex32(), 'zz'.repeat(32))],
    ['text above its limit', () => encode(text(3), 'aaaa')],
    ['text above its limit in bytes', () => encode(text(3), 'ää')],
    ['text with a control character', () => encode(text(3), 'a\u0000')],
    ['text outside its grammar', () => encode(WORD, 'A')],
    ['text with half a surrogate pair', () => encode(text(3), '\ud800')],
    ['too many bytes', () => encode(byteList(2), new Uint8Array(3))],
    ['bytes that are too few', () => encode(byteVector(2), new Uint8Array(1))],
    ['bytes that are too few, in a container', () => encode(OUTER, { ...VALUE, raw: new Uint8Array(1) })],
    ['bytes that are too many, in a container', () => encode(OUTER, { ...VALUE, raw: new Uint8Array(3) })],
    ['too many elements', () => encode(list(uint8, 2), [1, 2, 3])],
    ['too many elements of variable size', () => encode(list(byteList(1), 1), [new Uint8Array(1), new Uint8Array(1)])],
    ['a missing field', () => encode(OUTER, { ...VALUE, at: undefined } as never)],
  ]

  it.for(cases)('%s', ([, write]) => {
    expect(write).toThrow()
  })
})

describe('the fault of malformed bytes', () => {
  it('names the type and quotes 120 characters of the reason at most', () => {
    const verbose = container('Verbose', {
      word: text(4, () => {
        throw new Error('x'.repeat(5_000))
      }),
    })
    const bytes = concat(uint32LE(4), encodeText('a'))
    expect(decode(verbose, bytes)).toEqual(malformed('Verbose', 'x'.repeat(120)))
    const odd = text(4, () => {
      throw 'no error'
    })
    expect(decode(odd, encodeText('a'))).toEqual(malformed('ByteList[4]', 'unreadable'))
  })
})

it('bytes that end too early are called so, not in words of the engine', () => {
  for (const length of [0, 3])
    expect(decode(OUTER, BYTES.slice(0, length))).toEqual(malformed(OUTER.typeName, 'it is cut off'))
})
