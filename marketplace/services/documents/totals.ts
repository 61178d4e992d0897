import { type Decimal, decimalText, divideNearest, product, unitsAt } from './decimal.ts'

/** `vatPercent` is set if the item's VAT rate differs from the document's. */
export interface PricedItem {
  readonly qty: Decimal
  readonly unitPrice: Decimal
  readonly vatPercent?: Decimal | null
}

/** `vatRate` is in per cent. The discount is taken off the sum of the items. */
export interface PricedTerms {
  readonly vatRate: Decimal
  readonly discount: { readonly percent: Decimal | null; readonly amount: Decimal | null } | null
  /** Decimals of amounts. */
  readonly digits: number
  readonly pricesIncludeVat?: boolean
}

/** Totals of the items of one VAT rate, in minor units, after their share of the discount. */
export interface VatTotal {
  readonly rate: Decimal
  readonly net: bigint
  readonly vat: bigint
}

/** Totals of all items, in minor units of the currency. */
export interface Totals {
  /** Per item, in order: gross if prices include VAT, else net. */
  readonly lines: readonly bigint[]
  /** Sum of the lines, before the discount. */
  readonly itemsTotal: bigint
  readonly discount: bigint
  /** After the discount. */
  readonly net: bigint
  /** Per VAT rate, in the order in which the items name them. */
  readonly rates: readonly VatTotal[]
  readonly vat: bigint
  readonly gross: bigint
}

/**
 * Currencies whose minor unit is not a hundredth (ISO 4217, table A.1), without its units of account (CLF, UYI, UYW).
 * `Intl` is not used: it follows CLDR, which drops the minor unit where cash has none (HUF, PKR), and changes between
 * releases.
 */
const DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
  }).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)] as const)),
)

/** Decimals of amounts in a currency of ISO 4217. */
export function currencyDigits(currency: string): number {
  return DIGITS.get(currency) ?? 2
}

/** Sum of the items before a discount, in minor units: gross if prices include VAT, else net. */
export function itemsTotalOf(items: readonly PricedItem[], digits: number): bigint {
  return sumOf(items.map((item) => lineAmount(item, digits)))
}

/**
 * VAT is computed once per rate, on the sum of its lines minus their share of the discount: VAT rounded per line would
 * not equal the rate of the net total. If prices include VAT, it is extracted from the gross sums, so that the document
 * matches what a cash register shows.
 */
export function computeTotals(items: readonly PricedItem[], terms: PricedTerms): Totals {
  const lines = items.map((item) => lineAmount(item, terms.digits))
  const itemsTotal = sumOf(lines)
  const discount = discountOf(itemsTotal, terms)
  const groups = new Map<string, { readonly rate: Decimal; sum: bigint }>()
  for (const [i, { vatPercent }] of items.entries()) {
    const rate = vatPercent ?? terms.vatRate
    const group = groups.get(decimalText(rate)) ?? { rate, sum: 0n }
    groups.set(decimalText(rate), { rate, sum: group.sum + (lines[i] as bigint) })
  }
  const shares = sharesOf(
    discount,
    [...groups.values()].map(({ sum }) => sum),
  )
  const rates = [...groups.values()].map(({ rate, sum }, i) => vatTotal(rate, sum - (shares[i] as bigint), terms))
  const [net, vat] = [sumOf(rates.map((one) => one.net)), sumOf(rates.map((one) => one.vat))]
  return { lines, itemsTotal, discount, net, rates, vat, gross: net + vat }
}

function vatTotal(rate: Decimal, sum: bigint, { pricesIncludeVat }: PricedTerms): VatTotal {
  const hundred = 100n * 10n ** BigInt(rate.scale)
  if (pricesIncludeVat !== true) return { rate, net: sum, vat: divideNearest(sum * rate.units, hundred) }
  const vat = divideNearest(sum * rate.units, hundred + rate.units)
  return { rate, net: sum - vat, vat }
}

function discountOf(sum: bigint, { discount, digits }: PricedTerms): bigint {
  if (sum <= 0n) return 0n
  if (discount?.amount != null) return unitsAt(discount.amount, digits)
  if (discount?.percent == null) return 0n
  const { units, scale } = discount.percent
  return divideNearest(sum * units, 100n * 10n ** BigInt(scale))
}

/** Splits an amount in proportion to `parts`, without losing a unit: the running total is rounded, not each share. */
function sharesOf(amount: bigint, parts: readonly bigint[]): readonly bigint[] {
  const whole = sumOf(parts)
  if (amount === 0n) return parts.map(() => 0n)
  let [before, given] = [0n, 0n]
  return parts.map((part) => {
    before += part
    const share = divideNearest(amount * before, whole) - given
    given += share
    return share
  })
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n)
}

function lineAmount({ qty, unitPrice }: PricedItem, digits: number): bigint {
  const { units, scale } = product(qty, unitPrice)
  return divideNearest(units * 10n ** BigInt(digits), 10n ** BigInt(scale))
}
