import { assert } from './assert.ts'
import { fault } from './fault.ts'
import { fail, ok, type Result } from './result.ts'

/** Unsigned base units of one asset, at most {@link AMOUNT_MAX}. The brand says that this range was checked or proved. */
export type Amount = bigint & { readonly __amount: unique symbol }

/** Largest amount on the wire: uint128. */
export const AMOUNT_MAX = (1n << 128n) - 1n
/** Exclusive bound of an asset's supply and of an amount in a transaction. */
export const SUPPLY_BOUND = 1n << 112n
const PRODUCT_BOUND = 1n << 256n

/** A longer text is refused before it is parsed. */
const TEXT_CHARS_MAX = 200

/** Zero units. */
export const ZERO = 0n as Amount

/** For numbers that this program's arithmetic proved to be in range; out of range is a bug. */
export function amount(value: bigint): Amount {
  assert(value >= 0n && value <= AMOUNT_MAX, `amount out of range: ${value}`)
  return value as Amount
}

/** Every supply is below 2^112, so an overflow is a bug. */
export function add(a: Amount, b: Amount): Amount {
  return amount(a + b)
}

/** Difference, or undefined when `b` is more than `a`. */
export function subtract(a: Amount, b: Amount): Amount | undefined {
  return b > a ? undefined : ((a - b) as Amount)
}

/** Difference; the caller has proved that `a` is at least `b`. */
export function subtractProven(a: Amount, b: Amount): Amount {
  assert(a >= b, `amount below zero: ${a} - ${b}`)
  return (a - b) as Amount
}

/** floor(a x b / divisor) with a product below 2^256: the receiver of the quotient loses the fraction. */
export function mulDivDown(a: bigint, b: bigint, divisor: bigint): bigint {
  assert(a >= 0n && b >= 0n && divisor > 0n, 'mulDivDown takes unsigned numbers and a positive divisor')
  const product = a * b
  assert(product < PRODUCT_BOUND, 'product exceeds 256 bits')
  return product / divisor
}

/** ceil(a x b / divisor) with a product below 2^256: the payer of the quotient pays the fraction. */
export function mulDivUp(a: bigint, b: bigint, divisor: bigint): bigint {
  const down = mulDivDown(a, b, divisor)
  return down * divisor === a * b ? down : down + 1n
}

/** Decimal text of an amount without trailing zeros: 150000000 at 8 decimals is `1.5`. */
export function formatAmount(value: bigint, decimals: number): string {
  assert(value >= 0n, 'amounts are unsigned')
  const digits = value.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Exact base units of decimal text. Too many decimals, signs, exponents, blanks and leading zeros are refused. */
export function parseAmount(text: string, decimals: number): Result<Amount> {
  const match = text.length > TEXT_CHARS_MAX ? null : /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text)
  if (match === null) return fail(fault('amount/not-decimal', { text: text.slice(0, 64) }))
  const fraction = match[2] ?? ''
  if (fraction.length > decimals) return fail(fault('amount/too-many-decimals', { text, decimals }))
  const value = BigInt((match[1] as string) + fraction.padEnd(decimals, '0'))
  if (value >= SUPPLY_BOUND) return fail(fault('amount/too-large', { text }))
  return ok(value as Amount)
}
