import { describe, expect, it } from 'vitest'
import {
  BLOCK_TRANSACTIONS_MAX,
  type Block,
  bodySize,
  decodeBlock,
  encodeBlock,
  sizeInBlock,
} from '../../../../consensus/block/block.ts'
import { HEADER_BYTES, sealHeader } from '../../../../consensus/block/header.ts'
import { concat, uint32LE } from '../../../../consensus/primitives/bytes.ts'
import { encodeTransaction } from '../../../../consensus/tx/transaction.ts'
import { testHeader } from '../../../support/headers.ts'
import { SAMPLE, units, unsigned } from '../../../support/unsigned.ts'
import { container, listOfVarying, vary } from '../../../vectors/generate/tx-wire.ts'

function blockOf(count: number): Block {
  const transactions = Array.from({ length: count }, (_, i) =>
    unsigned('transfer', SAMPLE.transfer({ amount: units(i + 1) }), {
      witness: { signatures: [{ keyIndex: 0, bytes: new Uint8Array(0) }] },
    }),
  )
  return { ...sealHeader(testHeader()), transactions }
}

const malformed = { ok: false, fault: { code: 'block/malformed', detail: { reason: expect.stringMatching(/./) } } }

describe('a block on the wire', () => {
  it.each([0, 1, 2, BLOCK_TRANSACTIONS_MAX])('of %i transactions decodes to itself', (count) => {
    const block = blockOf(count)
    expect(decodeBlock(encodeBlock(block))).toEqual({ ok: true, value: block })
  })

  it('counts its bytes beside header and offset', () => {
    const block = blockOf(3)
    expect(encodeBlock(block).length).toBe(HEADER_BYTES + 4 + bodySize(block.transactions))
    expect(bodySize(block.transactions)).toBe(block.transactions.reduce((sum, tx) => sum + sizeInBlock(tx), 0))
  })

  it('holds at most 1,024 transactions', () => {
    const { bytes, transactions } = blockOf(BLOCK_TRANSACTIONS_MAX + 1)
    const wire = container(bytes, vary(listOfVarying(transactions.map(encodeTransaction))))
    expect(decodeBlock(wire)).toEqual(malformed)
    expect(() => encodeBlock(blockOf(BLOCK_TRANSACTIONS_MAX + 1))).toThrow(RangeError)
  })

  it('is refused cut short, with bytes left over, or with a gap', () => {
    const bytes = encodeBlock(blockOf(0))
    expect(decodeBlock(new Uint8Array(0))).toEqual(malformed)
    expect(decodeBlock(bytes.slice(0, -1))).toEqual(malformed)
    expect(decodeBlock(concat(bytes, Uint8Array.of(0)))).toEqual(malformed)
    const gap = concat(bytes.slice(0, HEADER_BYTES), uint32LE(HEADER_BYTES + 5), Uint8Array.of(0))
    expect(decodeBlock(gap)).toEqual(malformed)
  })

  it('is refused with a transaction that does not decode, named by its place', () => {
    const bytes = encodeBlock(blockOf(2))
    const kindOfSecond = bytes.length - blockOf(2).transactions[1]!.size + 8 + 45
    bytes[kindOfSecond] = 0x02
    const detail = { index: 1, reason: 'tx/kind' }
    expect(decodeBlock(bytes)).toEqual({ ok: false, fault: { code: 'block/transaction', detail } })
  })

  it('is refused with a header that does not decode', () => {
    const bytes = encodeBlock(blockOf(0))
    bytes.fill(0xff, 40, 48)
    const detail = { type: 'Header', reason: 'integer above 2^53 - 1' }
    expect(decodeBlock(bytes)).toEqual({ ok: false, fault: { code: 'codec/malformed', detail } })
  })
})
