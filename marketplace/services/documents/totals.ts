import { type Decimal, decimalText, divideNearest, product, unitsAt } from './decimal.ts'

/** How much of something at which price; `vatPercent` where its VAT is not that of the document. */
export interface PricedItem {
  readonly qty: Decimal
  readonly unitPrice: Decimal
  readonly vatPercent?: Decimal | null
}

/** What holds for all items: VAT in per cent, and what is taken off their sum, a part in per cent or an amount. */
export interface PricedTerms {
  readonly vatRate: Decimal
  readonly discount: { readonly percent: Decimal | null; readonly amount: Decimal | null } | null
  /** Digits after the point of amounts. */
  readonly digits: number
  /** Whether prices are what a buyer pays, VAT and all; without it they are before VAT. */
  readonly pricesIncludeVat?: boolean
}

/** What the items of one rate come to, in minor units, after their share of the discount. */
export interface VatTotal {
  readonly rate: Decimal
  readonly net: bigint
  readonly vat: bigint
}

/** What items come to, in minor units of the currency. */
export interface Totals {
  /** Of each item, in order: gross where prices include VAT, else net. */
  readonly lines: readonly bigint[]
  /** Sum of the lines, before the discount. */
  readonly itemsTotal: bigint
  readonly discount: bigint
  /** After the discount. */
  readonly net: bigint
  /** Of each rate, in the order in which the items name them. */
  readonly rates: readonly VatTotal[]
  readonly vat: bigint
  readonly gross: bigint
}

/**
 * Currencies whose minor unit is not a hundredth (ISO 4217, table A.1). `Intl` follows CLDR, which leaves out the minor unit where
 * cash has none (HUF, PKR), and differs from release to release.
 */
const DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
  }).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)] as const)),
)

/** Digits after the point of amounts in a currency of ISO 4217. */
export function currencyDigits(currency: string): number {
  return DIGITS.get(currency) ?? 2
}

/** What items come to before a discount, in minor units: gross where prices include VAT, else net. */
export function itemsTotalOf(items: readonly PricedItem[], digits: number): bigint {
  return sumOf(items.map((item) => lineAmount(item, digits)))
}

/**
 * Each line is quantity times price, rounded to the minor unit, halves away from zero; VAT is worked out once for each rate, on
 * the sum of its lines less their share of the discount. Rounding VAT line by line would tell the buyer a tax that is not the
 * rate of the net total. Where prices include VAT, the gross sums stand and VAT is taken out of them, so that
 * what a till shows is what the document says.
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

/** VAT on a sum before it, or in a sum that includes it. */
function vatTotal(rate: Decimal, sum: bigint, { pricesIncludeVat }: PricedTerms): VatTotal {
  const hundred = 100n * 10n ** BigInt(rate.scale)
  if (pricesIncludeVat !== true) return { rate, net: sum, vat: divideNearest(sum * rate.units, hundred) }
  const vat = divideNearest(sum * rate.units, hundred + rate.units)
  return { rate, net: sum - vat, vat }
}

/** Of what does not come to anything, nothing is taken off. */
function discountOf(sum: bigint, { discount, digits }: PricedTerms): bigint {
  if (sum <= 0n) return 0n
  if (discount?.amount != null) return unitsAt(discount.amount, digits)
  if (discount?.percent == null) return 0n
  const { units, scale } = discount.percent
  return divideNearest(sum * units, 100n * 10n ** BigInt(scale))
}

/** An amount in parts like those, to the last unit: what is shared out so far is rounded, not each part. */
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
