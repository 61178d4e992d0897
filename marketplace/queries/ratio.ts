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

/** The exact product of two fractions. */
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

/** Decimal text with at most `decimals` decimals, truncated, without trailing zeros. */
export function ratioText({ numerator, denominator }: Ratio, decimals: number): string {
  const scaled = ((numerator * 10n ** BigInt(decimals)) / denominator).toString().padStart(decimals + 1, '0')
  const whole = scaled.slice(0, scaled.length - decimals)
  const fraction = scaled.slice(scaled.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Decimal text with at most `decimals` decimals, rounded half up, without trailing zeros. */
export function roundedText({ numerator, denominator }: Ratio, decimals: number): string {
  const half = ratio(2n * numerator * 10n ** BigInt(decimals) + denominator, 2n * denominator * 10n ** BigInt(decimals))
  return ratioText(half, decimals)
}

/** Decimal text with this many significant digits, rounded half up. Digits before the point are never rounded away. */
export function significantText(value: Ratio, digits: number): string {
  if (value.numerator === 0n) return '0'
  return roundedText(value, Math.max(0, digits - 1 - placeOf(value)))
}

/** Position of the first non-zero digit: 0 for ones, 1 for tens, -1 for tenths. */
function placeOf({ numerator, denominator }: Ratio): number {
  const place = numerator.toString().length - denominator.toString().length
  const [up, down] = place < 0 ? [10n ** BigInt(-place), 1n] : [1n, 10n ** BigInt(place)]
  return numerator * up < denominator * down ? place - 1 : place
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y > 0n) [x, y] = [y, x % y]
  return x
}
