/** Text for a figure that is not known. */
export const UNKNOWN_FIGURE = 'unknown'

const CENTS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const UP_TO_CENTS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const FIRST_DIGITS = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 })
/** Figures of this size or above are shown without cents. */
const WHOLE_FROM = 10_000
const PERCENT_MIN = 0.01

/** Dollars for readers: whole from 10,000 on, four significant digits below one. */
export function dollarText(value: number | null): string {
  if (value === null) return UNKNOWN_FIGURE
  if (value >= WHOLE_FROM) return `$${WHOLE.format(value)}`
  return `$${value >= 1 ? CENTS.format(value) : FIRST_DIGITS.format(value)}`
}

/** Per cent with at most two decimals. */
export function percentText(value: number | null): string {
  if (value === null) return UNKNOWN_FIGURE
  const size = Math.abs(value)
  if (size > 0 && size < PERCENT_MIN) return 'almost 0 %'
  return `${UP_TO_CENTS.format(value)} %`
}

/** An amount with its symbol, rounded like dollars. */
export function amountText({ symbol, amount }: { readonly symbol: string; readonly amount: string }): string {
  const value = Number(amount)
  // Formats the text, not the number, which cannot hold all its digits.
  const exact = amount as Intl.StringNumericLiteral
  const format = value >= WHOLE_FROM ? WHOLE : value >= 1 ? UP_TO_CENTS : FIRST_DIGITS
  return `${format.format(exact)} ${symbol}`
}

/** A count with separators and a noun. */
export function countText(count: number, noun: string): string {
  return `${WHOLE.format(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A time to the minute. */
export function minuteText(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
}
