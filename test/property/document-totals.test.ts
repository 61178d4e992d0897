import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimalText, divideNearest, parseDecimal } from '../../marketplace/services/documents/decimal.ts'
import { credited, creditProblem } from '../../marketplace/services/documents/request.ts'
import { computeTotals, currencyDigits } from '../../marketplace/services/documents/totals.ts'

const decimal = (max: bigint, scaleMax: number, min = 0n) =>
  fc
    .tuple(fc.bigInt({ min, max }), fc.integer({ min: 0, max: scaleMax }))
    .map(([units, scale]) => parseDecimal(decimalText({ units, scale })) as { units: bigint; scale: number })

const ITEMS = fc.array(
  fc.record({ qty: decimal(10n ** 13n, 4, 1n), unitPrice: decimal(10n ** 15n, 6, -(10n ** 15n)) }),
  { minLength: 1, maxLength: 20 },
)
const CURRENCY = fc.constantFrom('JPY', 'EUR', 'KWD')

/** Whether an integer is the nearest to a fraction; a tie goes away from zero. */
function isNearest(whole: bigint, numerator: bigint, denominator: bigint): boolean {
  const twice = 2n * (numerator - whole * denominator)
  const isTie = twice === denominator || twice === -denominator
  const awayFromZero = numerator >= 0n ? twice === -denominator : twice === denominator
  return isTie ? awayFromZero : twice < denominator && twice > -denominator
}

function isSame(a: { units: bigint; scale: number }, b: { units: bigint; scale: number }): boolean {
  return a.units * 10n ** BigInt(b.scale) === b.units * 10n ** BigInt(a.scale)
}

describe('totals of any document', () => {
  it('add up: the lines to the net total, net and VAT to the gross total', () => {
    fc.assert(
      fc.property(ITEMS, decimal(100_000n, 3), CURRENCY, (items, rate, currency) => {
        const { lines, net, vat, gross } = computeTotals(items, {
          vatRate: rate,
          discount: null,
          digits: currencyDigits(currency),
        })
        expect(lines.reduce((sum, line) => sum + line, 0n)).toBe(net)
        expect(net + vat).toBe(gross)
      }),
    )
  })

  it('are nearest to the exact figures, halves away from zero', () => {
    fc.assert(
      fc.property(ITEMS, decimal(100_000n, 3), CURRENCY, (items, rate, currency) => {
        const digits = currencyDigits(currency)
        const { lines, net, vat } = computeTotals(items, { vatRate: rate, discount: null, digits })
        for (const [i, { qty, unitPrice }] of items.entries()) {
          const exact = qty.units * unitPrice.units * 10n ** BigInt(digits)
          expect(isNearest(lines[i] as bigint, exact, 10n ** BigInt(qty.scale + unitPrice.scale))).toBe(true)
        }
        expect(isNearest(vat, net * rate.units, 100n * 10n ** BigInt(rate.scale))).toBe(true)
      }),
    )
  })

  it('mirror each other with all prices negated', () => {
    fc.assert(
      fc.property(ITEMS, decimal(100_000n, 3), fc.boolean(), (items, rate, pricesIncludeVat) => {
        const negated = items.map(({ qty, unitPrice }) => ({
          qty,
          unitPrice: { ...unitPrice, units: -unitPrice.units },
        }))
        const terms = { vatRate: rate, discount: null, digits: 2, pricesIncludeVat }
        const [{ net, gross }, mirrored] = [computeTotals(items, terms), computeTotals(negated, terms)]
        expect([mirrored.net, mirrored.gross]).toEqual([-net, -gross])
      }),
    )
  })

  it('are those of fractions of whole numbers, with rates and a discount', () => {
    const rate = fc.option(decimal(100_000n, 3), { nil: null })
    const priced = fc.array(
      fc.record({ qty: decimal(10n ** 8n, 4, 1n), unitPrice: decimal(10n ** 9n, 6), vatPercent: rate }),
      { minLength: 1, maxLength: 12 },
    )
    const share = fc.bigInt({ min: 0n, max: 1_000n })
    fc.assert(
      fc.property(priced, decimal(100_000n, 3), share, fc.boolean(), (items, vatRate, perMille, asAmount) => {
        const lines = computeTotals(items, { vatRate, discount: null, digits: 2 }).lines
        const sum = lines.reduce((total, line) => total + line, 0n)
        const percent = { units: perMille, scale: 1 }
        const amount = { units: (sum * perMille) / 1_000n, scale: 2 }
        const discount = asAmount ? { percent: null, amount } : { percent, amount: null }
        const totals = computeTotals(items, { vatRate, discount, digits: 2 })
        if (asAmount) expect(totals.discount).toBe(amount.units)
        else expect(isNearest(totals.discount, sum * perMille, 1_000n)).toBe(true)
        expect(totals.net).toBe(sum - totals.discount)
        expect(totals.gross).toBe(totals.net + totals.vat)
        let [net, vat] = [0n, 0n]
        for (const { rate, net: after, vat: tax } of totals.rates) {
          const before = lines
            .filter((_, i) => isSame(items[i]!.vatPercent ?? vatRate, rate))
            .reduce((a, b) => a + b, 0n)
          // A share differs by less than a unit from its exact part of the discount.
          const off = (before - after) * sum - totals.discount * before
          expect(sum === 0n || (off < sum && off > -sum)).toBe(true)
          expect(isNearest(tax, after * rate.units, 100n * 10n ** BigInt(rate.scale))).toBe(true)
          net += after
          vat += tax
        }
        expect([net, vat]).toEqual([totals.net, totals.vat])
      }),
    )
  })

  it('are what is in the prices where these include VAT, and the gross total is the sum of the lines less the discount', () => {
    const rate = fc.option(decimal(100_000n, 3), { nil: null })
    const priced = fc.array(
      fc.record({ qty: decimal(10n ** 8n, 4, 1n), unitPrice: decimal(10n ** 9n, 6, -(10n ** 9n)), vatPercent: rate }),
      { minLength: 1, maxLength: 12 },
    )
    const share = fc.bigInt({ min: 0n, max: 1_000n })
    fc.assert(
      fc.property(priced, decimal(100_000n, 3), CURRENCY, share, (items, vatRate, currency, perMille) => {
        const digits = currencyDigits(currency)
        const discount = { percent: { units: perMille, scale: 1 }, amount: null }
        const totals = computeTotals(items, { vatRate, discount, digits, pricesIncludeVat: true })
        for (const [i, { qty, unitPrice }] of items.entries()) {
          const exact = qty.units * unitPrice.units * 10n ** BigInt(digits)
          expect(isNearest(totals.lines[i] as bigint, exact, 10n ** BigInt(qty.scale + unitPrice.scale))).toBe(true)
        }
        const sum = totals.lines.reduce((a, b) => a + b, 0n)
        expect(totals.itemsTotal).toBe(sum)
        expect(totals.discount === 0n || isNearest(totals.discount, sum * perMille, 1_000n)).toBe(true)
        expect(totals.gross).toBe(sum - totals.discount)
        let [net, vat] = [0n, 0n]
        for (const { rate, net: base, vat: tax } of totals.rates) {
          const before = totals.lines
            .filter((_, i) => isSame(items[i]!.vatPercent ?? vatRate, rate))
            .reduce((a, b) => a + b, 0n)
          const gross = base + tax
          const off = (before - gross) * sum - totals.discount * before
          expect(totals.discount === 0n ? gross === before : off < sum && off > -sum).toBe(true)
          // |tax - gross x rate / (100 + rate)| <= 1/2, as whole numbers: the rate in thousandths of a per cent.
          const thousandths = rate.units * 10n ** BigInt(3 - rate.scale)
          const error = tax * (100_000n + thousandths) - gross * thousandths
          expect(2n * (error < 0n ? -error : error)).toBeLessThanOrEqual(100_000n + thousandths)
          expect(isNearest(tax, gross * thousandths, 100_000n + thousandths)).toBe(true)
          net += base
          vat += tax
        }
        expect([net, vat, net + vat]).toEqual([totals.net, totals.vat, totals.gross])
      }),
    )
  })

  it('are divided so that a tie is told from what is near it', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n, max: 10n ** 20n }), (numerator, denominator) => {
        expect(isNearest(divideNearest(numerator, denominator), numerator, denominator)).toBe(true)
        expect(divideNearest(numerator * 2n * denominator + denominator, 2n * denominator)).toBe(
          numerator >= 0n ? numerator + 1n : numerator,
        )
      }),
    )
  })
})

describe('what a credit note comes to', () => {
  const RATED = fc.array(
    fc.record({
      description: fc.constant('x'),
      qty: decimal(10n ** 6n, 4, 1n),
      unitPrice: decimal(10n ** 4n, 2, -(10n ** 4n)),
      vatPercent: fc.option(decimal(100n, 0)),
    }),
    { minLength: 1, maxLength: 4 },
  )
  const DISCOUNT = fc.option(fc.record({ percent: decimal(100n, 0), amount: fc.constant(null) }))

  it('is refused or not below 0, and the same with every sign turned', () => {
    fc.assert(
      fc.property(RATED, decimal(100n, 0), DISCOUNT, fc.boolean(), CURRENCY, (items, vatRate, discount, ...rest) => {
        const [pricesIncludeVat, currency] = rest
        const coinage = { currency, digits: currencyDigits(currency) }
        const outcome = (sign: bigint) => {
          const signed = items.map((item) => ({
            ...item,
            unitPrice: { ...item.unitPrice, units: sign * item.unitPrice.units },
          }))
          const request = credited({ items: signed, vatRate, discount, pricesIncludeVat }, coinage)
          const totals = computeTotals(request.items, { ...request, digits: coinage.digits })
          return { problem: creditProblem(request, coinage)?.text, totals }
        }
        const [asWritten, turned] = [outcome(1n), outcome(-1n)]
        expect(turned.problem).toBe(asWritten.problem)
        const { problem, totals } = asWritten
        expect(problem === undefined).toBe(totals.net >= 0n && totals.gross >= 0n)
        if (problem === undefined) expect([turned.totals.net, turned.totals.gross]).toEqual([totals.net, totals.gross])
      }),
    )
  })
})
