import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBlock } from '../../consensus/block/block.ts'
import { decodeHeader, type SealedHeader, sealHeader } from '../../consensus/block/header.ts'
import { verifyHistoryProof } from '../../consensus/block/history.ts'
import { decodeAccountKeys } from '../../consensus/crypto/account-keys.ts'
import { parseAddress } from '../../consensus/crypto/address.ts'
import { TRANSACTION_TREE, verifyMerkleProof } from '../../consensus/crypto/merkle.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { verifyStateProof } from '../../consensus/state/proof.ts'
import type { StateKey } from '../../consensus/state/table.ts'
import { transactionFromJson } from '../../consensus/tx/json.ts'
import { assembleTransaction, decodeBody, decodeTransaction } from '../../consensus/tx/transaction.ts'
import { testHeader } from '../support/headers.ts'
import { runs } from '../support/runs.ts'
import { filled, SAMPLE, unsigned } from '../support/unsigned.ts'

/** Any bytes that a peer or a server can send: each function must return, not throw. */

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 80 }),
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc.constant(new Uint8Array(32)),
)
const count = fc.oneof(
  fc.nat(70),
  fc.constantFrom(-1, 0.5, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY),
)
const work = fc.oneof(fc.bigInt({ min: -5n, max: 2n ** 257n }), fc.constantFrom(0n, 2n ** 255n, 2n ** 256n - 1n))
const root = fc.oneof(fc.constant(filled<Hash>(3)), fc.string() as fc.Arbitrary<Hash>)
const target = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.constantFrom(0n, 1n, 2n, 2n ** 256n - 1n))

describe('a verifying function answers', () => {
  it('for history proofs whose work fits nothing', () => {
    const sibling = fc.record({ hash: bytes, work })
    const proof = fc.record({ index: count, count, siblings: fc.array(sibling, { maxLength: 34 }) })
    const block = fc
      .record({ height: fc.nat(70), target })
      .map((change): SealedHeader => sealHeader(testHeader(change)))
    fc.assert(
      fc.property(root, block, proof, (...shown) => {
        expect(verifyHistoryProof(...shown)).toBe(false)
      }),
      { numRuns: runs(3_000) },
    )
  })

  it('for a history proof of one block that claims all the work there is', () => {
    const hash = new Uint8Array(32)
    for (const [claimed, own] of [
      [2n ** 256n - 1n, 2n ** 240n],
      [2n ** 255n, 1n],
      [0n, 0n],
    ] as const) {
      const block = sealHeader(testHeader({ height: 0, target: own }))
      const proof = { index: 0, count: 2, siblings: [{ hash, work: claimed }] }
      expect(verifyHistoryProof(filled(3), block, proof)).toBe(false)
    }
  })

  it('for list proofs', () => {
    const proof = fc.record({ index: count, count, siblings: fc.array(bytes, { maxLength: 34 }) })
    fc.assert(
      fc.property(bytes, bytes, proof, (top, item, shown) => {
        expect(verifyMerkleProof(TRANSACTION_TREE, top, item, shown)).toBe(false)
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('for state proofs', () => {
    const leaf = fc.option(fc.record({ path: bytes, value: bytes }))
    const proof = fc.record({ siblings: fc.array(bytes, { maxLength: 258 }), leaf })
    const key = fc.oneof(fc.constant('0100'), fc.string()) as fc.Arbitrary<StateKey>
    fc.assert(
      fc.property(root, key, fc.option(bytes, { nil: undefined }), proof, (...shown) => {
        expect(verifyStateProof(...shown)).toBe(false)
      }),
      { numRuns: runs(2_000) },
    )
  })
})

describe('a decoding function answers', () => {
  const tx = unsigned('transfer', SAMPLE.transfer())
  const decoders: readonly (readonly [string, (shown: Uint8Array) => { readonly ok: boolean }, Uint8Array])[] = [
    ['headers', decodeHeader, sealHeader(testHeader()).bytes],
    ['blocks', decodeBlock, Uint8Array.of(...sealHeader(testHeader()).bytes, 72, 1, 0, 0)],
    ['transactions', decodeTransaction, tx.bodyBytes],
    ['bodies', decodeBody, tx.bodyBytes],
    ['witnesses', (shown) => assembleTransaction(tx.bodyBytes, shown), tx.witnessBytes],
    ['account keys', decodeAccountKeys, Uint8Array.of(1, 1, 6, 0, 0, 0, 4, 0, 0, 0, 1, 5, 0, 0, 0)],
  ]

  it.each(decoders)('for %s of any bytes', (_, decode, sample) => {
    const near = fc
      .tuple(fc.nat(sample.length), fc.nat(4), fc.uint8Array({ maxLength: 6 }))
      .map(([at, drop, put]) => Uint8Array.of(...sample.subarray(0, at), ...put, ...sample.subarray(at + drop)))
    fc.assert(
      fc.property(fc.oneof(near, fc.uint8Array({ maxLength: 400 })), (shown) => {
        expect(decode(shown).ok).toBeTypeOf('boolean')
      }),
      { numRuns: runs(1_500) },
    )
  })

  it('for addresses and transactions of any text and any JSON', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (text, json) => {
        expect(parseAddress('far', text).ok).toBe(false)
        expect(transactionFromJson('far', json).ok).toBe(false)
      }),
      { numRuns: runs(500) },
    )
  })
})
