import { describe, expect, it } from 'vitest'
import { kindOfNumber, RESERVED_KINDS, TX_KIND_NAMES, TX_KINDS } from '../../../../consensus/tx/kinds.ts'

describe('transaction kinds', () => {
  const numbers = TX_KIND_NAMES.map((kind) => TX_KINDS[kind].number)

  it('are found by their numbers, which ascend', () => {
    expect(TX_KIND_NAMES.map((kind) => kindOfNumber(TX_KINDS[kind].number))).toEqual(TX_KIND_NAMES)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  })

  it('never share a number, not even with a reserved one', () => {
    const all = [...numbers, ...Object.values(RESERVED_KINDS)]
    expect(new Set(all).size).toBe(all.length)
  })

  it('have the numbers that the specification names', () => {
    expect(numbers).toEqual([
      ...[0x01, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x20, 0x21, 0x22, 0x23, 0x30, 0x31, 0x32, 0x33],
      ...[0x40, 0x41, 0x42, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x60, 0x61, 0x62, 0x63, 0x64, 0x65],
      ...[0x66, 0x67, 0x68, 0x69, 0x6a],
    ])
    expect(RESERVED_KINDS).toEqual({ account_rekey: 0x02 })
    expect(kindOfNumber(0x02)).toBeUndefined()
  })
})
