import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Cycle, comesBack, cycleLimits, marginPpm } from '../../marketplace/queries/cycle-search.ts'
import { Fraction, whole } from '../support/fraction.ts'
import { runs } from '../support/runs.ts'
import { units } from '../support/unsigned.ts'

/** Cycles of two to four pools, with reserves up to a bound. */
function cycles(most: bigint): fc.Arbitrary<Cycle> {
  const reserve = fc.bigInt({ min: 1n, max: most }).map(units)
  const hop = fc.record({ reserveIn: reserve, reserveOut: reserve, feeBps: fc.constantFrom(0n, 5n, 30n, 100n) })
  return fc.array(hop, { minLength: 2, maxLength: 4 })
}

/** Two pools of the same assets whose prices differ by little more than their fees. */
const thin: fc.Arbitrary<Cycle> = fc
  .record({
    dollars: fc.bigInt({ min: 1_000_000n, max: 1n << 50n }),
    goods: fc.bigInt({ min: 1_000_000n, max: 1n << 50n }),
    gapPpm: fc.bigInt({ min: 1_000n, max: 5_000n }),
  })
  .map(({ dollars, goods, gapPpm }) => [
    { reserveIn: units(dollars), reserveOut: units(goods), feeBps: 5n },
    { reserveIn: units(goods), reserveOut: units((dollars * (1_000_000n + gapPpm)) / 1_000_000n), feeBps: 5n },
  ])

const SMALL = 1_500n
const further = fc.oneof(fc.bigInt({ min: 1n, max: 10_000n }), fc.bigInt({ min: 1n, max: 1n << 92n }))
const gainOf = (cycle: Cycle, size: bigint): bigint => comesBack(cycle, size) - size

describe('the largest input that comes back whole', () => {
  it('is the largest of all inputs, tried one by one', () => {
    fc.assert(
      fc.property(cycles(SMALL), (cycle) => {
        // A pool pays less than its reserve, so no larger input can return.
        let largest = 0n
        for (let size = 1n; size <= SMALL; size++) if (gainOf(cycle, size) >= 0n) largest = size
        expect(cycleLimits(cycle).maxSize).toBe(largest)
      }),
      { numRuns: runs(500) },
    )
  })

  // If rounding takes a very slight gain, larger inputs may return it. None gains more than rounding takes.
  it('comes back whole, and no input beyond gains but for rounding, whatever the reserves', () => {
    fc.assert(
      fc.property(fc.oneof(cycles(1n << 90n), thin), fc.array(further), (cycle, steps) => {
        const { maxSize } = cycleLimits(cycle)
        expect(gainOf(cycle, maxSize)).toBeGreaterThanOrEqual(0n)
        const limit = lostByRounding(cycle)
        for (const step of [1n, 2n, ...steps]) expect(gainOf(cycle, maxSize + step)).toBeLessThanOrEqual(limit)
      }),
      { numRuns: runs(500) },
    )
  })

  it('is above 0 only where a tiny input gains on the curve', () => {
    fc.assert(
      fc.property(cycles(1n << 60n), (cycle) => {
        const { maxSize } = cycleLimits(cycle)
        if (maxSize > 0n) expect(marginPpm(cycle)).toBeGreaterThanOrEqual(0n)
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('the input that gains most', () => {
  it('gains no less than any other, but for what rounding takes', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(fc.oneof(cycles(1n << 60n), thin), sizes, (cycle, parts) => {
        const { maxSize, bestSize, bestGain } = cycleLimits(cycle)
        expect(bestGain).toBe(gainOf(cycle, bestSize))
        expect(bestSize).toBeLessThanOrEqual(maxSize)
        for (const part of parts) {
          const other = gainOf(cycle, (maxSize * BigInt(part)) / 10_000n)
          expect(other - bestGain).toBeLessThanOrEqual(lostByRounding(cycle))
        }
      }),
      { numRuns: runs(500) },
    )
  })
})

/** The most that rounding can cost over all pools and the few tried inputs, each unit at its price. */
function lostByRounding(cycle: Cycle): bigint {
  let lost = whole(0n)
  for (const { reserveIn, reserveOut } of cycle) {
    lost = lost.times(new Fraction(reserveOut, reserveIn)).plus(whole(1n))
  }
  return lost.ceil() + 4n
}
