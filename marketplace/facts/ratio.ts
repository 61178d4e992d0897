import { assert } from '../../consensus/primitives/assert.ts'

/** An exact fraction of unsigned integers, not necessarily in lowest terms. */
export interface Ratio {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** The fraction 1. */
export const ONE: Ratio = { numerator: 1n, denominator: 1n }

/** A fraction in lowest terms; the denominator must not be 0. */
export function ratio(numerator: bigint, denominator: bigint): Ratio {
  assert(numerator >= 0n && denominator > 0n, 'a ratio is a fraction of unsigned integers')
  const divisor = greatestCommonDivisor(numerator, denominator)
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

/** Product of two fractions, exact. */
export function times(a: Ratio, b: Ratio): Ratio {
  return ratio(a.numerator * b.numerator, a.denominator * b.denominator)
}

/** floor(value x ratio). */
export function scaledDown(value: bigint, { numerator, denominator }: Ratio): bigint {
  return (value * numerator) / denominator
}

/** Sign of a - b. */
export function compareRatios(a: Ratio, b: Ratio): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}

/** Decimal text with at most so many decimals, cut, without trailing zeros. */
export function ratioText({ numerator, denominator }: Ratio, decimals: number): string {
  const scaled = ((numerator * 10n ** BigInt(decimals)) / denominator).toString().padStart(decimals + 1, '0')
  const whole = scaled.slice(0, scaled.length - decimals)
  const fraction = scaled.slice(scaled.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Decimal text of at least so many digits from the first that is not 0, cut: small prices keep their digits. */
export function significantText(value: Ratio, digits: number): string {
  const { numerator, denominator } = value
  if (numerator === 0n) return '0'
  // The quotient of the lengths tells the place of the first digit, or the one before.
  const place = numerator.toString().length - denominator.toString().length
  return ratioText(value, Math.max(0, digits - place))
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y > 0n) [x, y] = [y, x % y]
  return x
}
