import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAcceptablePoint } from '../../consensus/crypto/ed25519-rules.ts'
import { verifyTabSignature } from '../../consensus/crypto/tab-signing.ts'
import type { BlockId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { encodeTabReceipt, type TabReceipt, tabReceiptsRoot, voucherMessage } from '../../consensus/tx/tab-messages.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { hex, unhex } from '../support/reference/bytes.ts'
import * as reference from '../support/reference/tab-keys.ts'
import { TAB_RECEIPT } from '../support/reference/tab-schemas.ts'
import { listRoot } from '../support/reference/trees.ts'
import { runs } from '../support/runs.ts'
import { VOUCHER_KEYS } from '../support/tab-choices.ts'
import { units } from '../support/unsigned.ts'

const b32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex)
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const amount = fc.bigInt({ min: 0n, max: 2n ** 112n - 1n })

const receipt = fc.record({
  ...{ tabId: b32, seq: u32, n: u32, serviceId: fc.constantFrom('echo', `s${'-'.repeat(46)}9`), context: b32 },
  ...{ resultHash: b32, outcome: fc.nat(1), charged: amount, cumulative: amount, durationMs: u32 },
  timeMs: fc.maxSafeNat(),
})

describe('tabs, by the node and by the second reading', () => {
  it('have the same receipts and roots', () => {
    fc.assert(
      fc.property(fc.array(receipt, { maxLength: 9 }), (receipts) => {
        const own = receipts.map((one) => TAB_RECEIPT.encode(one))
        const node = receipts.map((one) =>
          encodeTabReceipt({
            ...{ ...one, tabId: one.tabId as TxId, serviceId: one.serviceId as ServiceId },
            ...{ context: one.context as Hash, resultHash: one.resultHash as Hash },
            ...{ charged: units(one.charged), cumulative: units(one.cumulative) },
          } satisfies TabReceipt),
        )
        expect(node.map(hex)).toEqual(own.map(hex))
        expect(tabReceiptsRoot(node)).toBe(hex(listRoot('tab-receipt', own)))
      }),
      { numRuns: runs(300) },
    )
  })

  it('have the same vouchers, and the same verdicts on their signatures, flipped bits included', () => {
    const voucher = fc.record({ tabId: b32, seq: u32, ceiling: amount, context: b32, genesisId: b32, chainId: u32 })
    const flips = fc.array(fc.nat(8 * 128 - 1), { maxLength: 2 })
    let good = 0
    fc.assert(
      fc.property(voucher, fc.nat(2), flips, (one, number, bits) => {
        const { tabId, seq, ceiling, context, genesisId, chainId } = one
        const message = reference.voucherMessage(tabId, { seq, ceiling, context }, { genesisId, chainId })
        const network = { chainId, genesis: genesisId as BlockId }
        const fields = { seq, ceiling: units(ceiling), context: context as Hash }
        expect(hex(voucherMessage(network, tabId as TxId, fields))).toBe(hex(message))
        const key = VOUCHER_KEYS[number] as (typeof VOUCHER_KEYS)[number]
        const signed = Uint8Array.from([...unhex(key.publicKey), ...key.sign(message), ...message.subarray(-32)])
        for (const bit of bits) signed[bit >> 3] = (signed[bit >> 3] as number) ^ (1 << (bit & 7))
        const [point, signature] = [signed.slice(0, 32), signed.slice(32, 96)]
        const read = Uint8Array.from([...message.subarray(0, -32), ...signed.subarray(96)])
        const own = reference.tabSignatureVerifies(point, read, signature)
        expect(verifyTabSignature(NATIVE_BACKEND, { key: point, message: read, signature })).toBe(own)
        expect(isAcceptablePoint(point)).toBe(reference.isAcceptable(point))
        if (own) good++
      }),
      { numRuns: runs(300) },
    )
    expect(good).toBeGreaterThan(20)
  })
})
