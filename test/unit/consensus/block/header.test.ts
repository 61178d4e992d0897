import { describe, expect, it } from 'vitest'
import {
  decodeHeader,
  HEADER_BYTES,
  HEADER_VERSION,
  headerVersion,
  NONCE_BYTES,
  sealHeader,
} from '../../../../consensus/block/header.ts'
import { testHeader } from '../../../support/headers.ts'

describe('a header', () => {
  it('has 324 bytes, the nonce last', () => {
    const sealed = sealHeader(testHeader({ nonce: 0x0807_0605_0403_0201n }))
    expect(sealed.bytes.length).toBe(324)
    expect(HEADER_BYTES).toBe(324)
    expect([...sealed.bytes.subarray(324 - NONCE_BYTES)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('decodes to what was encoded, with the same id', () => {
    const sealed = sealHeader(testHeader())
    expect(decodeHeader(sealed.bytes)).toEqual({ ok: true, value: sealed })
  })

  it('keeps its own bytes when the buffer it came from is used again', () => {
    const sealed = sealHeader(testHeader())
    const buffer = sealed.bytes.slice()
    const decoded = decodeHeader(buffer)
    buffer.fill(0)
    expect(decoded).toEqual({ ok: true, value: sealed })
  })

  it('has another id with any other byte', () => {
    const { bytes, id } = sealHeader(testHeader())
    for (const at of [0, 4, 40, 100, 323]) {
      const other = decodeHeader(bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)))
      expect(other.ok && other.value.id !== id).toBe(true)
    }
  })

  it.each([0, 323, 325])('of %i bytes is refused', (length) => {
    const reason = expect.stringMatching(/./)
    expect(decodeHeader(new Uint8Array(length))).toEqual({
      ok: false,
      fault: { code: 'codec/malformed', detail: { type: 'Header', reason } },
    })
  })

  it('takes a time of 2^53 - 1 and refuses the next millisecond', () => {
    const last = sealHeader(testHeader({ timeMs: Number.MAX_SAFE_INTEGER }))
    expect(decodeHeader(last.bytes).ok).toBe(true)
    const beyond = last.bytes.slice()
    new DataView(beyond.buffer).setBigUint64(40, 2n ** 53n, true)
    expect(decodeHeader(beyond)).toEqual({
      ok: false,
      fault: { code: 'codec/malformed', detail: { type: 'Header', reason: 'integer above 2^53 - 1' } },
    })
  })
})

describe('the version of a header', () => {
  it.each([
    [1, 1],
    [0xffff_0001, 1],
    [0x0001_0000, 0],
    [2, 2],
    [0x0001_0002, 2],
  ])('of %i is its low 16 bits, %i', (version, expected) => {
    expect(headerVersion({ version })).toBe(expected)
  })

  it('is 1 in this release', () => {
    expect(HEADER_VERSION).toBe(1)
  })
})
