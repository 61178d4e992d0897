import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wilsonLowPpm } from '../../../../marketplace/queries/reputation.ts'

describe('the least success rate that so many calls prove', () => {
  it('is that of the Wilson score interval', () => {
    // Reference values of the Wilson formula with z = 1.959964, in floating point.
    const wilson = (good: number, all: number): number => {
      const z = 1.959964
      const p = good / all
      const centre = p + (z * z) / (2 * all)
      const spread = z * Math.sqrt((p * (1 - p)) / all + (z * z) / (4 * all * all))
      return (centre - spread) / (1 + (z * z) / all)
    }
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (all, share) => {
        const good = Math.floor(all * share)
        const low = Number(wilsonLowPpm(BigInt(good), BigInt(all))) / 1e6
        expect(Math.abs(low - Math.max(0, wilson(good, all)))).toBeLessThan(3e-6)
      }),
    )
  })

  it('grows with the calls that prove it, and is nothing without any', () => {
    expect(wilsonLowPpm(0n, 0n)).toBe(0n)
    expect(wilsonLowPpm(0n, 50n)).toBe(0n)
    const proven = [1n, 10n, 100n, 1_000n, 1_000_000n].map((calls) => wilsonLowPpm(calls, calls))
    expect(proven).toEqual([...proven].sort((a, b) => Number(a - b)))
    expect(proven[0]).toBeLessThan(210_000n)
    expect(proven.at(-1)).toBeLessThan(1_000_000n)
  })
})
