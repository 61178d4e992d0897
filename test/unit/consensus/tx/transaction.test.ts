import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import { PAYLOAD_BYTES_MAX } from '../../../../consensus/tx/kinds.ts'
import {
  decodeTransaction,
  decodeTransactionView,
  detached,
  encodeBody,
  encodeTransaction,
  encodeWitness,
  type Transaction,
  TX_BYTES_MAX,
} from '../../../../consensus/tx/transaction.ts'
import { MONEY_KINDS, MONEY_SAMPLE } from '../../../support/money-samples.ts'
import { runs } from '../../../support/runs.ts'
import { fillerSignature, SAMPLE, unsigned } from '../../../support/unsigned.ts'

/** A witness with a short signature, so that mutations mostly hit other fields. */
const WITNESS = { witness: { signatures: [{ keyIndex: 0, bytes: Uint8Array.of(1, 2, 3) }] } }
const SHORT_ATTESTATION = { epoch: 1, ...WITNESS.witness }
const SAMPLES: readonly Transaction[] = [
  unsigned('transfer', SAMPLE.transfer(), WITNESS),
  unsigned('agent_register', SAMPLE.agent_register(), { ...WITNESS, memo: Uint8Array.of(9, 9) }),
  unsigned('agent_update', SAMPLE.agent_update(), WITNESS),
  unsigned('service_publish', SAMPLE.service_publish(), WITNESS),
  unsigned('service_retire', SAMPLE.service_retire(), WITNESS),
  unsigned('agent_invoke', SAMPLE.agent_invoke(), WITNESS),
  unsigned('agent_receipt', SAMPLE.agent_receipt([{}, { outcome: 1 }]), WITNESS),
  ...MONEY_KINDS.filter((kind) => !kind.startsWith('bridge_')).map((kind) =>
    unsigned(kind, MONEY_SAMPLE[kind], WITNESS),
  ),
  unsigned('bridge_withdraw', MONEY_SAMPLE.bridge_withdraw, WITNESS),
  unsigned('bridge_deposit', { ...MONEY_SAMPLE.bridge_deposit, attestation: SHORT_ATTESTATION }, WITNESS),
  unsigned('bridge_rotate', { ...MONEY_SAMPLE.bridge_rotate, keys: [], attestation: SHORT_ATTESTATION }, WITNESS),
]

/** Wire bytes with a few bytes changed, removed or inserted. */
const mutated = fc
  .tuple(
    fc.constantFrom(...SAMPLES.map(encodeTransaction)),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('set', 'add', 'remove'), fc.nat(255)), { minLength: 1, maxLength: 3 }),
  )
  .map(([wire, edits]) =>
    edits.reduce((bytes, [place, edit, value]) => {
      const at = place % bytes.length
      const after = edit === 'add' ? at : at + 1
      const put = edit === 'remove' ? [] : [value]
      return Uint8Array.of(...bytes.subarray(0, at), ...put, ...bytes.subarray(after))
    }, wire),
  )

describe('the encoding of a transaction', () => {
  it('is the only one: whatever decodes encodes to the same bytes', () => {
    fc.assert(
      fc.property(mutated, (wire) => {
        const decoded = decodeTransaction(wire)
        if (!decoded.ok) return
        const { body, witness, bodyBytes, witnessBytes, size } = decoded.value
        expect(toHex(encodeBody(body))).toBe(toHex(bodyBytes))
        expect(toHex(encodeWitness(witness))).toBe(toHex(witnessBytes))
        expect(toHex(encodeTransaction(decoded.value))).toBe(toHex(wire))
        expect(size).toBe(wire.length)
      }),
      { numRuns: runs(4_000) },
    )
  })

  it('never makes the decoder throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const decoded = decodeTransaction(bytes)
        if (decoded.ok) expect(decoded.value.size).toBe(bytes.length)
        else expect(decoded.fault.code).toMatch(/^(codec\/malformed|tx\/kind|tx\/payload)$/)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('fits the largest of every field', () => {
    // The longest payload is a claim of 64 entries, each with a voucher and eight services.
    const voucher = 4 + 16 + 32 + 64
    const services = 8 * (4 + (4 + 4 + 16) + 48)
    const entry = 4 + (32 + 4 + 16 + 1 + 4 + 4 + 32 + 4) + voucher + services
    expect(PAYLOAD_BYTES_MAX).toBe(4 + 64 * entry)
    expect(TX_BYTES_MAX).toBe(8 + (74 + 128 + PAYLOAD_BYTES_MAX) + 49_152)
  })
})

describe('a decoded transaction', () => {
  it('keeps its own bytes when the buffer it came from is used again', () => {
    const tx = SAMPLES[1] as Transaction
    const buffer = encodeTransaction(tx)
    const decoded = decodeTransaction(buffer)
    buffer.fill(0xff)
    if (!decoded.ok) throw new Error(decoded.fault.code)
    expect(toHex(decoded.value.bodyBytes)).toBe(toHex(tx.bodyBytes))
    expect(toHex(decoded.value.body.memo)).toBe('0909')
    expect(decoded.value.witness).toEqual(tx.witness)
  })

  it('has the same id under every witness, and another witness id', () => {
    const one = unsigned('transfer', SAMPLE.transfer(), { witness: { signatures: [fillerSignature(0, 1, 1)] } })
    const two = unsigned('transfer', SAMPLE.transfer(), { witness: { signatures: [fillerSignature(0, 1, 2)] } })
    expect(two.txId).toBe(one.txId)
    expect(two.wtxId).not.toBe(one.wtxId)
  })

  it('is a view on the bytes it was decoded from, or has memory of its own', () => {
    const bytes = encodeTransaction(SAMPLES[0] as Transaction)
    const view = decodeTransactionView(bytes)
    if (!view.ok) throw new Error(view.fault.code)
    expect(view.value.bodyBytes.buffer).toBe(bytes.buffer)
    const own = detached(view.value)
    expect(own).toEqual(view.value)
    bytes.fill(0)
    expect(own.bodyBytes).toEqual((SAMPLES[0] as Transaction).bodyBytes)
    expect(view.value.bodyBytes).not.toEqual(own.bodyBytes)
  })
})

describe('encoding what is no transaction', () => {
  it.each([
    ['a version above a byte', { version: 256 }],
    ['a negative chain id', { chainId: -1 }],
    ['a broken height', { validUntil: 1.5 }],
    ['a nonce above 64 bits', { nonce: 2n ** 64n }],
    ['a negative tip', { tip: -1n }],
  ])('throws for %s, a bug of the caller', (_, change) => {
    expect(() => unsigned('transfer', SAMPLE.transfer(), change)).toThrow(RangeError)
  })

  it('throws for a text that is too long', () => {
    expect(() => unsigned('agent_register', SAMPLE.agent_register({ name: 'n'.repeat(65) }))).toThrow(RangeError)
  })

  it('throws for a memo that is too long', () => {
    expect(() => unsigned('transfer', SAMPLE.transfer(), { memo: new Uint8Array(129) })).toThrow(RangeError)
  })
})
