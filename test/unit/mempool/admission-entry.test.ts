import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../config/networks/rules.ts'
import { weightOf } from '../../../consensus/tx/weight.ts'
import { effectiveRate } from '../../../mempool/account-queue.ts'
import { mempoolEntry } from '../../../mempool/admission.ts'
import { testRuleBook } from '../../support/network.ts'
import { SAMPLE, units, unsigned } from '../../support/unsigned.ts'

const RULES = testRuleBook()

describe('an entry', () => {
  it('has the weight of its transaction, its bytes in a block and its place in the order of arrival', () => {
    const tx = unsigned('transfer', SAMPLE.transfer({ create: true }))
    const entry = mempoolEntry(tx, RULES, 1, 17)
    expect(entry.tx).toBe(tx)
    // On the wire each transaction in a block also takes an offset of four bytes.
    expect([entry.weight, entry.bytes, entry.sequence]).toEqual([weightOf(tx, LAUNCH_RULES.tx), tx.size + 4, 17])
  })

  it.each([
    ['a transfer', unsigned('transfer', SAMPLE.transfer({ amount: units(5_000) })), 5_000n],
    ['an agent_invoke', unsigned('agent_invoke', SAMPLE.agent_invoke({ amount: units(8_000_000) })), 8_000_000n],
    ['an agent_register', unsigned('agent_register', SAMPLE.agent_register()), 0n],
    ['an agent_update', unsigned('agent_update', SAMPLE.agent_update()), 0n],
    ['a service_publish', unsigned('service_publish', SAMPLE.service_publish()), 0n],
    ['a service_retire', unsigned('service_retire', SAMPLE.service_retire()), 0n],
    ['an agent_receipt', unsigned('agent_receipt', SAMPLE.agent_receipt()), 0n],
  ])('of %s needs its amount and its fee at the highest rate it allows', (_, tx, amount) => {
    expect(tx.body.maxFeeRate).toBe(1_000n)
    expect(mempoolEntry(tx, RULES, 1, 0).needs).toBe(amount + 1_000n * BigInt(weightOf(tx, LAUNCH_RULES.tx)))
  })

  it('pays base fee and tip, its maximum at most', () => {
    const entry = mempoolEntry(unsigned('transfer', SAMPLE.transfer(), { maxFeeRate: 50n, tip: 4n }), RULES, 1, 0)
    expect([32n, 46n, 47n, 60n].map((baseFee) => effectiveRate(entry, baseFee))).toEqual([36n, 50n, 50n, 50n])
  })
})
