import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { declaredWrites, rateOf, weightOf } from '../../../../consensus/tx/weight.ts'
import { fillerSignature, SAMPLE, unsigned } from '../../../support/unsigned.ts'

const RULES = LAUNCH_RULES.tx

describe('the weight of a transaction', () => {
  it.each([
    ['a transfer', unsigned('transfer', SAMPLE.transfer()), 2, 0],
    ['a transfer that may open an account', unsigned('transfer', SAMPLE.transfer({ create: true })), 2, 2_000],
    ['an agent_register', unsigned('agent_register', SAMPLE.agent_register()), 3, 20_000],
    ['an agent_update', unsigned('agent_update', SAMPLE.agent_update()), 2, 0],
    ['a service_publish', unsigned('service_publish', SAMPLE.service_publish()), 3, 2_000],
    ['a service_retire', unsigned('service_retire', SAMPLE.service_retire()), 2, 0],
    ['an agent_invoke', unsigned('agent_invoke', SAMPLE.agent_invoke()), 4, 800],
    ['an agent_receipt of one', unsigned('agent_receipt', SAMPLE.agent_receipt()), 8, 0],
    ['an agent_receipt of three', unsigned('agent_receipt', SAMPLE.agent_receipt([{}, {}, {}])), 18, 0],
  ])('of %s is its bytes, signatures, declared writes and surcharge', (_, tx, writes, surcharge) => {
    expect(declaredWrites(tx.body)).toBe(writes)
    expect(weightOf(tx, RULES)).toBe(tx.size + 400 + 200 * writes + surcharge)
  })

  it('counts every signature', () => {
    const signatures = [0, 1, 2].map((keyIndex) => fillerSignature(keyIndex))
    const tx = unsigned('transfer', SAMPLE.transfer(), { witness: { signatures } })
    expect(weightOf(tx, RULES)).toBe(tx.size + 3 * 400 + 400)
  })

  it('grows by one with every byte of the memo', () => {
    const bare = unsigned('transfer', SAMPLE.transfer())
    const wordy = unsigned('transfer', SAMPLE.transfer(), { memo: new Uint8Array(128) })
    expect(weightOf(wordy, RULES) - weightOf(bare, RULES)).toBe(128)
  })

  it('takes its prices from the rules', () => {
    const tx = unsigned('agent_invoke', SAMPLE.agent_invoke())
    const weight = { perSignature: 1, perStateWrite: 10, createAccount: 0, registerAgent: 0, publishService: 0 }
    expect(weightOf(tx, { ...RULES, weight: { ...weight, invokeRefund: 100 } })).toBe(tx.size + 1 + 40 + 100)
  })
})

describe('the rate paid', () => {
  it.each([
    [40n, 2n, 32n, 34n],
    [34n, 2n, 32n, 34n],
    [33n, 2n, 32n, 33n],
    [32n, 0n, 32n, 32n],
    [32n, 2n ** 64n - 1n, 32n, 32n],
    [2n ** 64n - 1n, 2n ** 64n - 1n, 2n ** 62n, 2n ** 64n - 1n],
  ])('at most %d with a tip of %d and a base fee of %d is %d', (maxFeeRate, tip, baseFee, rate) => {
    expect(rateOf({ maxFeeRate, tip }, baseFee)).toBe(rate)
  })
})
