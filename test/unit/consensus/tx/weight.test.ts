import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { attestationSignatures, declaredWrites, rateOf, weightOf } from '../../../../consensus/tx/weight.ts'
import { attestation, moneyTx } from '../../../support/money-samples.ts'
import { symbol } from '../../../support/tokens.ts'
import { fillerSignature, SAMPLE, unsigned } from '../../../support/unsigned.ts'

const RULES = LAUNCH_RULES.tx
const HOP = { asset: symbol('FUSD'), feeBps: 30 }

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
    ['a token_create', moneyTx('token_create'), 5, 20_000],
    ['a token_mint', moneyTx('token_mint'), 4, 0],
    ['a token_mint that may open an account', moneyTx('token_mint', { create: true }), 4, 2_000],
    ['a token_burn', moneyTx('token_burn'), 3, 0],
    ['a token_transfer', moneyTx('token_transfer'), 4, 0],
    ['a token_transfer that may open an account', moneyTx('token_transfer', { create: true }), 4, 2_000],
    ['a token_flags', moneyTx('token_flags'), 2, 0],
    ['a token_issuer', moneyTx('token_issuer'), 2, 0],
    ['a stable_deposit', moneyTx('stable_deposit'), 3, 0],
    ['a stable_mint', moneyTx('stable_mint'), 4, 0],
    ['a stable_mint that may open an account', moneyTx('stable_mint', { create: true }), 4, 2_000],
    ['a stable_redeem', moneyTx('stable_redeem'), 5, 0],
    ['a stable_withdraw', moneyTx('stable_withdraw'), 3, 0],
    ['a pool_create', moneyTx('pool_create'), 5, 20_000],
    ['a liquidity_add', moneyTx('liquidity_add'), 5, 0],
    ['a liquidity_remove', moneyTx('liquidity_remove'), 5, 0],
    ['a swap over one pool', moneyTx('swap'), 4, 0],
    ['a swap over three pools', moneyTx('swap', { hops: [HOP, { ...HOP, asset: symbol('SALT') }, HOP] }), 6, 0],
    ['a stake', moneyTx('stake'), 4, 0],
    ['an unstake', moneyTx('unstake'), 4, 0],
    ['a claim', moneyTx('claim'), 4, 0],
    ['a bridge_withdraw', moneyTx('bridge_withdraw'), 5, 2_000],
  ])('of %s is its bytes, signatures, declared writes and surcharge', (_, tx, writes, surcharge) => {
    expect(declaredWrites(tx.body)).toBe(writes)
    expect(weightOf(tx, RULES)).toBe(tx.size + 400 + 200 * writes + surcharge)
  })

  it.each([
    ['a bridge_deposit', moneyTx('bridge_deposit'), 1, 6, 2_000],
    ['one that may open an account', moneyTx('bridge_deposit', { create: true }), 1, 6, 4_000],
    ['a bridge_sign', moneyTx('bridge_sign'), 1, 2, 0],
    ['a bridge_release', moneyTx('bridge_release'), 1, 3, 0],
    ['a bridge_cancel', moneyTx('bridge_cancel', { attestation: attestation(8) }), 8, 5, 0],
    ['a bridge_rotate', moneyTx('bridge_rotate'), 2, 2, 2_400],
    ['a bridge_halt', moneyTx('bridge_halt', { attestation: attestation(3) }), 3, 2, 0],
  ])(
    'of %s counts the signatures of the attestation like those of the witness',
    (_, tx, members, writes, surcharge) => {
      expect(attestationSignatures(tx.body)).toBe(members)
      expect(declaredWrites(tx.body)).toBe(writes)
      expect(weightOf(tx, RULES)).toBe(tx.size + 400 * (1 + members) + 200 * writes + surcharge)
    },
  )

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
    const free = { createAccount: 0, registerAgent: 0, publishService: 0, invokeRefund: 0 }
    const money = { createMarket: 0, bridgeRecord: 0, bridgeRotation: 0 }
    const prices = { ...free, ...money, perSignature: 1, perStateWrite: 10 }
    const priced = (one: typeof tx, change: Partial<typeof prices>) => {
      return weightOf(one, { ...RULES, weight: { ...prices, ...change } }) - one.size
    }
    expect(priced(tx, { invokeRefund: 100 })).toBe(1 + 40 + 100)
    expect(priced(moneyTx('token_create'), { createMarket: 100 })).toBe(1 + 50 + 100)
    expect(priced(moneyTx('pool_create'), { createMarket: 100 })).toBe(1 + 50 + 100)
    expect(priced(moneyTx('bridge_withdraw'), { bridgeRecord: 100 })).toBe(1 + 50 + 100)
    expect(priced(moneyTx('bridge_rotate'), { bridgeRotation: 100 })).toBe(1 + 2 + 20 + 100)
    const opening = moneyTx('bridge_deposit', { create: true })
    expect(priced(opening, { bridgeRecord: 100, createAccount: 1_000 })).toBe(2 + 60 + 1_100)
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
