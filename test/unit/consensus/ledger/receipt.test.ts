import { describe, expect, it } from 'vitest'
import {
  decodeReceipt,
  encodeReceipt,
  RECEIPT_AMOUNTS_MAX,
  type Receipt,
  type ReceiptOf,
  receiptsRoot,
  resultHash,
} from '../../../../consensus/ledger/receipt.ts'
import { concat, toHex } from '../../../../consensus/primitives/bytes.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import { filled, units } from '../../../support/unsigned.ts'
import { listRoot, tagged } from '../../../vectors/generate/tx-wire.ts'

const RECEIPTS: readonly Receipt[] = [
  { type: 'reward', height: 7, miner: filled<Address>(1), amount: units(5) },
  { type: 'refund', txId: filled<TxId>(2), caller: filled<Address>(3), amount: units(6) },
  {
    ...{ type: 'transaction', txId: filled<TxId>(4), code: 3, weight: 10, rate: 33n, entries: [0, 32] },
    ...{ fee: units(330), burned: units(320), amounts: [units(7), units(8), units(9), units(10)] },
  },
  {
    ...{ type: 'close', burned: units(320), subsidy: units(100), stakingShare: units(10) },
    ...{ miner: filled<Address>(5), reward: units(100) },
  },
  { type: 'tab_return', tabId: filled<TxId>(6), payer: filled<Address>(7), amount: units(8) },
]

describe('a receipt', () => {
  it('begins with the number of its type and decodes to itself', () => {
    expect(RECEIPTS.map((receipt) => encodeReceipt(receipt)[0])).toEqual([2, 3, 1, 4, 5])
    for (const receipt of RECEIPTS) expect(decodeReceipt(encodeReceipt(receipt))).toEqual(receipt)
  })

  it('tells at most four amounts', () => {
    const receipt = RECEIPTS[2] as ReceiptOf<'transaction'>
    expect(RECEIPT_AMOUNTS_MAX).toBe(4)
    expect(decodeReceipt(encodeReceipt({ ...receipt, amounts: [] }))).toEqual({ ...receipt, amounts: [] })
    expect(() => encodeReceipt({ ...receipt, amounts: [...receipt.amounts, units(11)] })).toThrow()
  })

  it.each([0, 6, 255])('of type %i is unknown', (type) => {
    expect(() => decodeReceipt(Uint8Array.of(type))).toThrow(`unknown receipt type ${type}`)
  })

  it('with a byte too many or too few is damaged', () => {
    for (const receipt of RECEIPTS.filter(({ type }) => type !== 'transaction')) {
      const bytes = encodeReceipt(receipt)
      expect(() => decodeReceipt(bytes.slice(0, -1))).toThrow()
      expect(() => decodeReceipt(concat(bytes, Uint8Array.of(0)))).toThrow()
    }
  })
})

describe('the root of receipts', () => {
  it('is that of a list tree over their bytes, in order', () => {
    const encoded = RECEIPTS.map(encodeReceipt)
    for (const count of [0, 1, 3, 4]) {
      expect(receiptsRoot(encoded.slice(0, count))).toBe(toHex(listRoot('receipt', encoded.slice(0, count))))
    }
    expect(receiptsRoot(encoded.toReversed())).not.toBe(receiptsRoot(encoded))
  })
})

describe('the hash of a result', () => {
  it('has a tag of its own', () => {
    expect(resultHash(Uint8Array.of(1, 2))).toBe(toHex(tagged('farthing/result/1', Uint8Array.of(1, 2))))
  })
})
