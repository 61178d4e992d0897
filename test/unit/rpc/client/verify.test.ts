import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../../../consensus/block/block.ts'
import { taggedHashHex } from '../../../../consensus/crypto/hash.ts'
import { merkleProof, TRANSACTION_TREE } from '../../../../consensus/crypto/merkle.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import type { ServiceId } from '../../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { requestHash } from '../../../../consensus/tx/request-hash.ts'
import { failedChecks, type ReceiptJson, verifyPaidAnswer } from '../../../../rpc/client/verify.ts'
import { nativePowHasher } from '../../../../src/crypto/native-pow.ts'
import { TestChain, wallet, withHeader } from '../../../support/chain.ts'
import { runs } from '../../../support/runs.ts'
import { SAMPLE } from '../../../support/unsigned.ts'

const test = await TestChain.open()
await test.mineTo(4)
const pay = () => test.tx(wallet(1), 'transfer', SAMPLE.transfer({ to: wallet(2).address }))
const BLOCK: Block = await test.mine([await pay(), await pay(), await pay(), await pay(), await pay()])
const { cost, targetMax } = { cost: test.ruleBook.at(1).block.pow, targetMax: BLOCK.header.target }
const INDEX = 2

const RESULT = { answer: 'forty-two', list: [1, 2, 3] }
const PAID = {
  txId: BLOCK.transactions[INDEX]!.txId as string,
  serviceId: 'node-test',
  caller: 'dev1caller',
  amountBaseUnits: '800000',
  request: 'a text' as string | null,
}

interface Proof {
  readonly header: string
  readonly index: number
  readonly count: number
  readonly siblings: readonly string[]
}

/** The payment's proof in a block with the same transactions. */
function proofIn(block: Block): Proof {
  const ids = block.transactions.map(({ txId }) => fromHex(txId))
  const { index, count, siblings } = merkleProof(TRANSACTION_TREE, ids, INDEX)
  return { header: toHex(block.bytes), index, count, siblings: siblings.map(toHex) }
}

/** A node's receipt. `change` and `proof` replace parts of it. */
function receiptOf(block: Block, change: ReceiptJson = {}, proof: object = {}): ReceiptJson {
  const { request: _, ...paid } = PAID
  return {
    ...paid,
    requestHash: requestHash(PAID.serviceId as ServiceId, 'a text'),
    blockHash: block.id,
    blockHeight: block.header.height,
    resultHash: taggedHashHex('result', encodeText(JSON.stringify(RESULT))),
    proof: { ...proofIn(block), ...proof },
    ...change,
  }
}

/** Names of the checks that an answer fails. */
function failed(receipt: ReceiptJson, { result = RESULT as unknown, paid = PAID, limit = targetMax } = {}) {
  return failedChecks(verifyPaidAnswer({ result, receipt }, paid, { hasher: nativePowHasher, cost, targetMax: limit }))
}

const NO_HEADER = ['paymentInBlock', 'headerWork']

describe('a sound answer', () => {
  it('verifies', () => {
    expect(failed(receiptOf(BLOCK))).toEqual([])
  })

  it('verifies for every transaction of its block', () => {
    const ids = BLOCK.transactions.map(({ txId }) => fromHex(txId))
    for (const [i, { txId }] of BLOCK.transactions.entries()) {
      const { siblings, ...place } = merkleProof(TRANSACTION_TREE, ids, i)
      const receipt = receiptOf(BLOCK, { txId }, { ...place, siblings: siblings.map(toHex) })
      expect(failed(receipt, { paid: { ...PAID, txId } })).toEqual([])
    }
  })
})

describe('a header', () => {
  it('with a target above the limit of the network took no work', () => {
    expect(failed(receiptOf(BLOCK), { limit: targetMax - 1n })).toEqual(['headerWork'])
  })

  it('whose hash does not meet its own target took no work', () => {
    const harder = withHeader(BLOCK, { target: 1n })
    expect(failed(receiptOf(harder))).toEqual(['headerWork'])
  })

  it('of another height than the receipt says is another block', () => {
    for (const blockHeight of [BLOCK.header.height + 1, 0, -1, String(BLOCK.header.height), null, undefined]) {
      expect(failed(receiptOf(BLOCK, { blockHeight }))).toEqual(['headerWork'])
    }
  })

  it('with another id than the receipt says is another block', () => {
    for (const blockHash of ['00'.repeat(32), BLOCK.header.parent, BLOCK.id.toUpperCase(), '', null, undefined, 7]) {
      expect(failed(receiptOf(BLOCK, { blockHash }))).toEqual(['headerWork'])
    }
  })

  it('that differs in any bit is another block', () => {
    const bits = fc.integer({ min: 0, max: BLOCK.bytes.length * 8 - 1 })
    fc.assert(
      fc.property(bits, (bit) => {
        const bytes = Uint8Array.from(BLOCK.bytes)
        bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7))
        expect(failed(receiptOf(BLOCK, {}, { header: toHex(bytes) }))).toContain('headerWork')
      }),
      { numRuns: runs(200) },
    )
  })

  const hex = toHex(BLOCK.bytes)
  for (const [name, header] of [
    ['one byte short', hex.slice(2)],
    ['one byte long', `${hex}00`],
    ['half a byte short', hex.slice(1)],
    ['half a byte long', `${hex}0`],
    ['in capitals', hex.toUpperCase()],
    ['not hex', hex.replace(/./g, 'g')],
    ['prefixed', `0x${hex}`],
    ['empty', ''],
    ['a number', 7],
    ['a list', [hex]],
    ['null', null],
    ['absent', undefined],
  ] as const) {
    it(`that is ${name} proves nothing, and nothing is thrown`, () => {
      expect(failed(receiptOf(BLOCK, {}, { header }))).toEqual(NO_HEADER)
    })
  }
})

describe('a proof', () => {
  const { siblings } = proofIn(BLOCK)
  const [first, ...rest] = siblings as [string, ...string[]]
  for (const [name, proof] of [
    ['of another place', { index: INDEX + 1 }],
    ['of a place that is none', { index: BLOCK.transactions.length }],
    ['of a negative place', { index: -1 }],
    ['of half a place', { index: 1.5 }],
    ['of a place beyond 32 bits', { index: 2 ** 32 + INDEX, count: 2 ** 33 }],
    ['of another count', { count: BLOCK.transactions.length + 3 }],
    ['of a count of none', { count: 0 }],
    ['of a count that is no number', { count: '5' }],
    ['with a sibling too few', { siblings: rest }],
    ['with a sibling too many', { siblings: [...siblings, first] }],
    ['with its siblings in another order', { siblings: siblings.toReversed() }],
    ['with a foreign sibling', { siblings: ['00'.repeat(32), ...rest] }],
    ['with a sibling of odd length', { siblings: [first.slice(1), ...rest] }],
    ['with a short sibling', { siblings: [first.slice(2), ...rest] }],
    ['with a sibling in capitals', { siblings: [first.toUpperCase(), ...rest] }],
    ['with a sibling that is a number', { siblings: [7, ...rest] }],
    ['with siblings that are no list', { siblings: first }],
    ['without siblings', { siblings: undefined }],
  ] as const) {
    it(`${name} does not show the payment, and nothing is thrown`, () => {
      expect(failed(receiptOf(BLOCK, {}, proof))).toEqual(['paymentInBlock'])
    })
  }

  it('of another transaction does not show the payment', () => {
    const { txId } = BLOCK.transactions[0]!
    expect(failed(receiptOf(BLOCK, { txId }), { paid: { ...PAID, txId } })).toEqual(['paymentInBlock'])
  })

  it('that is missing shows nothing', () => {
    for (const proof of [undefined, null, 'none', 7, []]) expect(failed(receiptOf(BLOCK, { proof }))).toEqual(NO_HEADER)
  })
})

describe('a receipt', () => {
  for (const field of ['txId', 'serviceId', 'caller', 'amountBaseUnits'] as const) {
    it(`with another ${field} is not for this call`, () => {
      for (const value of ['other', '', 800_000, null, undefined]) {
        expect(failed(receiptOf(BLOCK, { [field]: value }))).toEqual(['receiptMatches'])
      }
    })
  }

  it('of another request is not for this call', () => {
    const others = [
      ['node-test', 'a text '],
      ['node-test', ''],
      ['node-tes', 'ta text'],
      ['node-else', 'a text'],
    ] as const
    const hashes = others.map(([serviceId, request]) => requestHash(serviceId as ServiceId, request))
    for (const named of [...hashes, '00'.repeat(32), '', null, undefined, 7])
      expect(failed(receiptOf(BLOCK, { requestHash: named }))).toEqual(['requestHash'])
  })

  it('of a payment that commits to no request is not compared with one', () => {
    const paid = { ...PAID, request: null }
    expect(failed(receiptOf(BLOCK, { requestHash: '00'.repeat(32) }), { paid })).toEqual([])
  })

  it('with another result hash is not for this result', () => {
    for (const resultHash of ['00'.repeat(32), '', null, undefined]) {
      expect(failed(receiptOf(BLOCK, { resultHash }))).toEqual(['resultHash'])
    }
  })

  it('is not for another result', () => {
    const reordered = { list: [1, 2, 3], answer: 'forty-two' }
    for (const result of [{ ...RESULT, answer: 'forty-three' }, reordered, null, '', {}, []]) {
      expect(failed(receiptOf(BLOCK), { result })).toEqual(['resultHash'])
    }
    const nothing = { result: undefined, receipt: receiptOf(BLOCK) }
    expect(verifyPaidAnswer(nothing, PAID, { hasher: nativePowHasher, cost, targetMax }).resultHash).toBe(false)
  })
})

describe('garbage', () => {
  const value = fc.jsonValue({ maxDepth: 3 })
  /** Numbers and texts that are almost right. */
  const near = fc.oneof(
    value,
    fc.double(),
    fc.integer(),
    fc.string(),
    fc.stringMatching(/^[0-9a-f]{0,70}$/),
    fc.constant(proofIn(BLOCK).header),
    fc.array(fc.stringMatching(/^[0-9a-f]{62,65}$/), { maxLength: 40 }),
  )

  it('in the place of a receipt verifies nothing, and nothing is thrown', () => {
    const receipts = value.filter((receipt) => receipt !== null)
    fc.assert(
      fc.property(receipts, value, (receipt, result) => {
        expect(failed(receipt as ReceiptJson, { result }).length).toBe(5)
      }),
      { numRuns: runs(500) },
    )
  })

  it('in the place of any parts of a sound receipt fails the check that they are for', () => {
    const proofs = fc.record({ header: near, index: near, count: near, siblings: near }, { requiredKeys: [] })
    const parts = fc.record({ blockHash: near, blockHeight: near, resultHash: near, proof: near }, { requiredKeys: [] })
    const sound = JSON.stringify(receiptOf(BLOCK))
    fc.assert(
      fc.property(parts, proofs, (change, proof) => {
        const receipt = receiptOf(BLOCK, change, proof)
        expect(failed(receipt).length === 0).toBe(JSON.stringify(receipt) === sound)
      }),
      { numRuns: runs(500) },
    )
  })
})

it('an answer without a result is not one, whatever its receipt says', () => {
  const receipt = receiptOf(BLOCK, { resultHash: taggedHashHex('result', encodeText('')) })
  expect(failed(receipt, { result: undefined })).toEqual(['resultHash'])
})
