import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareRatios,
  ONE,
  ratio,
  ratioText,
  scaledDown,
  significantText,
  times,
} from '../../../../marketplace/queries/ratio.ts'
import { runs } from '../../../support/runs.ts'

const positive = fc.bigInt({ min: 1n, max: 2n ** 200n })
const fractions = fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 200n }), positive)

/** A decimal text as a fraction over 10^decimals. */
function read(text: string): readonly [bigint, bigint] {
  const [whole = '', fraction = ''] = text.split('.')
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length)]
}

describe('a ratio', () => {
  it('is exact, in lowest terms, and compares by cross products', () => {
    const both = fc.property(fractions, fractions, ([a, b], [c, d]) => {
      const [x, y] = [ratio(a, b), ratio(c, d)]
      expect(x.numerator * b).toBe(a * x.denominator)
      expect(ratio(x.numerator, x.denominator)).toEqual(x)
      const product = times(x, y)
      expect(product.numerator * b * d).toBe(a * c * product.denominator)
      expect(compareRatios(x, y)).toBe(a * d === c * b ? 0 : a * d < c * b ? -1 : 1)
      expect(times(x, ONE)).toEqual(x)
    })
    fc.assert(both, { numRuns: runs(200) })
  })

  it('cuts where it is written or multiplied, and never rounds up', () => {
    const cut = fc.property(fractions, fc.integer({ min: 0, max: 30 }), positive, ([a, b], decimals, value) => {
      const text = ratioText(ratio(a, b), decimals)
      const [digits, scale] = read(text)
      expect(digits * b).toBeLessThanOrEqual(a * scale)
      expect((digits * 10n ** BigInt(decimals) + scale) * b).toBeGreaterThan(a * scale * 10n ** BigInt(decimals))
      expect(text).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
      const down = scaledDown(value, ratio(a, b))
      expect(down * b).toBeLessThanOrEqual(value * a)
      expect((down + 1n) * b).toBeGreaterThan(value * a)
    })
    fc.assert(cut, { numRuns: runs(200) })
  })

  it('keeps its first digits however small it is', () => {
    const kept = fc.property(positive, positive, fc.integer({ min: 1, max: 20 }), (a, b, digits) => {
      const [value, scale] = read(significantText(ratio(a, b), digits))
      // The error is at most half a unit of the last requested digit.
      const error = a * scale - value * b
      expect(2n * (error < 0n ? -error : error) * 10n ** BigInt(digits - 1)).toBeLessThanOrEqual(a * scale)
    })
    fc.assert(kept, { numRuns: runs(200) })
    expect(significantText(ratio(0n, 7n), 5)).toBe('0')
    expect(significantText(ratio(1n, 3n), 4)).toBe('0.3333')
    expect(significantText(ratio(2n, 300_000_000_000n), 4)).toBe('0.000000000006667')
    expect(significantText(ratio(123_456_789n, 1n), 4)).toBe('123456789')
    expect(significantText(ratio(999_995n, 1_000_000n), 5)).toBe('1')
    // Truncation would print 0.24918787999.
    expect(significantText(ratio(24_918_788n, 100_000_000n), 10)).toBe('0.24918788')
  })
})
