/** An exact decimal number: units / 10^scale. */
export interface Decimal {
  readonly units: bigint
  readonly scale: number
}

const DECIMAL = /^(-?)(0|[1-9][0-9]{0,18})(?:\.([0-9]{1,12}))?$/

/** Up to 19 digits, up to 12 decimals, an optional minus; undefined for an exponent, a leading zero or other text. */
export function parseDecimal(text: string): Decimal | undefined {
  const [matched, sign, whole = '', fraction = ''] = DECIMAL.exec(text) ?? []
  if (matched === undefined) return undefined
  const digits = fraction.replace(/0+$/, '')
  const units = BigInt(whole + digits)
  return { units: sign === '-' ? -units : units, scale: digits.length }
}

/** Compares with a whole number: -1 below, 0 equal, 1 above. */
export function compareToWhole({ units, scale }: Decimal, whole: bigint): number {
  const bound = whole * 10n ** BigInt(scale)
  return units === bound ? 0 : units < bound ? -1 : 1
}

/** The exact product. */
export function product(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale }
}

/** The value in units of 10^-scale; `scale` must be at least the value's own. */
export function unitsAt({ units, scale: own }: Decimal, scale: number): bigint {
  return units * 10n ** BigInt(scale - own)
}

/** Halves are rounded away from zero, so that a credit note mirrors its invoice. The denominator must be positive. */
export function divideNearest(numerator: bigint, denominator: bigint): bigint {
  const size = numerator < 0n ? -numerator : numerator
  const rounded = (2n * size + denominator) / (2n * denominator)
  return numerator < 0n ? -rounded : rounded
}

/** Plain text with at least `digitsMin` digits after the point: `-1234.50`. */
export function decimalText({ units, scale }: Decimal, digitsMin = 0): string {
  const places = Math.max(scale, digitsMin)
  const size = (units < 0n ? -units : units) * 10n ** BigInt(places - scale)
  const digits = size.toString().padStart(places + 1, '0')
  const [whole, fraction] = [digits.slice(0, digits.length - places), digits.slice(digits.length - places)]
  return `${units < 0n ? '-' : ''}${whole}${places === 0 ? '' : `.${fraction}`}`
}

/** Text for print: thousands separated, a typographic minus. */
export function printedDecimal(value: Decimal, digitsMin = 0): string {
  const [whole = '', fraction] = decimalText(value, digitsMin).replace('-', '\u2212').split('.')
  const grouped = whole.replace(/\B(?=([0-9]{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}
