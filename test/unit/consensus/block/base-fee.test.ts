import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { baseFeeAfter } from '../../../../consensus/block/base-fee.ts'
import { runs } from '../../../support/runs.ts'

const RULES = LAUNCH_RULES.block
const childFee = (baseFee: bigint, weightUsed: number) => baseFeeAfter({ baseFee, weightUsed }, RULES)

describe('the base fee of a child', () => {
  it.each([
    ['stays after a half-full block', 6_400n, 1_000_000, 6_400n],
    ['rises by 1/32 after a full one', 6_400n, 2_000_000, 6_600n],
    ['falls by 1/32 after an empty one', 6_400n, 0, 6_200n],
    ['rises by at least 1', 32n, 1_000_001, 33n],
    ['never falls below the floor', 33n, 0, 32n],
    ['stays at the floor', 32n, 0, 32n],
    ['stays below 2^62', 2n ** 62n, 2_000_000, 2n ** 62n],
    ['rounds the step down twice', 1_023n, 1_999_999, 1_023n + 31n],
  ])('%s', (_, fee, weight, child) => {
    expect(childFee(fee, weight)).toBe(child)
  })

  it('moves by at most a 32nd, grows with the weight, and stays in its bounds', () => {
    const fees = fc.bigInt({ min: 32n, max: 2n ** 62n })
    const weights = fc.integer({ min: 0, max: 2_000_000 })
    fc.assert(
      fc.property(fees, weights, weights, (fee, a, b) => {
        const [light, heavy] = [childFee(fee, Math.min(a, b)), childFee(fee, Math.max(a, b))]
        expect(light <= heavy).toBe(true)
        expect(light >= 32n && heavy <= 2n ** 62n).toBe(true)
        expect(heavy - fee <= fee / 32n || heavy - fee === 1n).toBe(true)
        expect(fee - light <= fee / 32n).toBe(true)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('comes back down to the floor after any height, in empty blocks', () => {
    let fee = 2n ** 62n
    let blocks = 0
    for (; fee > 63n; blocks++) fee = childFee(fee, 0)
    // From 63 downwards a 32nd is 1.
    expect(blocks).toBeLessThan(1_400)
    for (let i = 0; i < 31; i++) fee = childFee(fee, 0)
    expect(fee).toBe(32n)
  })
})
