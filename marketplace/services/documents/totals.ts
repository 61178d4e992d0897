import { type Decimal, divideNearest } from './decimal.ts'

/** How much of something at which price. */
export interface PricedItem {
  readonly qty: Decimal
  readonly unitPrice: Decimal
}

/** What items come to, in minor units of the currency. */
export interface Totals {
  /** Net of each item, in order. */
  readonly lines: readonly bigint[]
  readonly net: bigint
  readonly vat: bigint
  readonly gross: bigint
}

/** Digits after the point of amounts in a currency of ISO 4217. */
export function currencyDigits(currency: string): number {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
  return maximumFractionDigits ?? 2
}

/**
 * Each line is quantity times price, rounded to the minor unit, halves away from zero; VAT is worked out once, on the sum of the lines.
 * Rounding VAT line by line would tell the buyer a tax that is not the rate of the net total.
 */
export function computeTotals(items: readonly PricedItem[], vatRate: Decimal, digits: number): Totals {
  const lines = items.map((item) => lineNet(item, digits))
  const net = lines.reduce((sum, line) => sum + line, 0n)
  const vat = divideNearest(net * vatRate.units, 100n * 10n ** BigInt(vatRate.scale))
  return { lines, net, vat, gross: net + vat }
}

function lineNet({ qty, unitPrice }: PricedItem, digits: number): bigint {
  return divideNearest(qty.units * unitPrice.units * 10n ** BigInt(digits), 10n ** BigInt(qty.scale + unitPrice.scale))
}
