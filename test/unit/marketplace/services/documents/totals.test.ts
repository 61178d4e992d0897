import { describe, expect, it } from 'vitest'
import {
  type Decimal,
  decimalText,
  divideNearest,
  parseDecimal,
  printedDecimal,
} from '../../../../../marketplace/services/documents/decimal.ts'
import { computeTotals, currencyDigits } from '../../../../../marketplace/services/documents/totals.ts'

function decimal(text: string): Decimal {
  return parseDecimal(text) as Decimal
}

describe('totals of documents', () => {
  const GOLDEN: readonly (readonly [
    string,
    [string, string][],
    string,
    { lines: bigint[]; net: bigint; vat: bigint },
  ])[] = [
    ['EUR', [['1', '0.005']], '19', { lines: [1n], net: 1n, vat: 0n }],
    ['EUR', [['1', '0.0049']], '19', { lines: [0n], net: 0n, vat: 0n }],
    [
      'EUR',
      [
        ['3', '33.335'],
        ['0.3333', '9.99'],
      ],
      '7',
      { lines: [10001n, 333n], net: 10334n, vat: 723n },
    ],
    ['EUR', Array(3).fill(['1', '0.30']), '5', { lines: [30n, 30n, 30n], net: 90n, vat: 5n }],
    [
      'JPY',
      [
        ['1.5', '333'],
        ['1', '0.4'],
      ],
      '10',
      { lines: [500n, 0n], net: 500n, vat: 50n },
    ],
    [
      'KWD',
      [
        ['2', '-24.7505'],
        ['1', '5'],
      ],
      '5',
      { lines: [-49501n, 5000n], net: -44501n, vat: -2225n },
    ],
    ['EUR', [['1', '-0.005']], '0', { lines: [-1n], net: -1n, vat: 0n }],
    ['USD', [['1000000', '1000000000']], '100', { lines: [10n ** 17n], net: 10n ** 17n, vat: 10n ** 17n }],
    ['USD', [['1', '100']], '8.375', { lines: [10000n], net: 10000n, vat: 838n }],
  ]
  for (const [currency, items, rate, expected] of GOLDEN)
    it(`${currency} ${items.map((item) => item.join(' x ')).join(', ')} at ${rate} %`, () => {
      const priced = items.map(([qty, unitPrice]) => ({ qty: decimal(qty), unitPrice: decimal(unitPrice) }))
      const totals = computeTotals(priced, {
        vatRate: decimal(rate),
        discount: null,
        digits: currencyDigits(currency),
      })
      const { net, vat } = expected
      const rates = [{ rate: decimal(rate), net, vat }]
      expect(totals).toEqual({ ...expected, itemsTotal: net, discount: 0n, rates, gross: net + vat })
    })

  const GROSS: readonly (readonly [string, string, string, { net: bigint; vat: bigint }])[] = [
    // No net price with two decimals gives 9.99: the nearest are 9.98 and 10.00.
    ['1', '9.99', '19', { net: 839n, vat: 160n }],
    ['3', '9.99', '7', { net: 2801n, vat: 196n }],
    ['1', '-9.99', '19', { net: -839n, vat: -160n }],
    // A tie: the VAT is half a cent.
    ['1', '0.01', '100', { net: 0n, vat: 1n }],
    ['1', '-0.01', '100', { net: 0n, vat: -1n }],
    ['1', '12.50', '0', { net: 1250n, vat: 0n }],
    ['1', '108.375', '8.375', { net: 10000n, vat: 838n }],
  ]
  for (const [qty, unitPrice, rate, { net, vat }] of GROSS)
    it(`EUR ${qty} x ${unitPrice} with VAT of ${rate} % in it`, () => {
      const totals = computeTotals([{ qty: decimal(qty), unitPrice: decimal(unitPrice) }], {
        ...{ vatRate: decimal(rate), discount: null, digits: 2, pricesIncludeVat: true },
      })
      const gross = net + vat
      const rates = [{ rate: decimal(rate), net, vat }]
      expect(totals).toEqual({ lines: [gross], itemsTotal: gross, discount: 0n, net, rates, vat, gross })
    })

  it('has the digits of each currency', () => {
    expect(['JPY', 'EUR', 'KWD'].map(currencyDigits)).toEqual([0, 2, 3])
    // The cash of these currencies has no minor unit, but ISO 4217 defines one.
    expect(['HUF', 'PKR', 'COP', 'IDR', 'ALL', 'IQD'].map(currencyDigits)).toEqual([2, 2, 2, 2, 2, 3])
  })

  it('rounds halves away from zero', () => {
    expect([-25n, -15n, -14n, 14n, 15n, 25n].map((tenths) => divideNearest(tenths, 10n))).toEqual([
      -3n,
      -2n,
      -1n,
      1n,
      2n,
      3n,
    ])
  })
})

describe('decimal numbers', () => {
  it('are written as they were read', () => {
    for (const text of ['0', '-0.5', '12', '0.0001', '1000000000.123456']) expect(decimalText(decimal(text))).toBe(text)
  })

  it('have thousands apart and a minus for eyes', () => {
    expect(printedDecimal(decimal('-1234567.5'), 2)).toBe('\u22121,234,567.50')
    expect(printedDecimal(decimal('999'), 0)).toBe('999')
    expect(printedDecimal(decimal('0.125'), 2)).toBe('0.125')
  })

  for (const text of ['', '.', '1.', '.5', '01', '--1', '1e5', ' 1', '1_0', '\u0661', '9'.repeat(20)])
    it(`do not look like "${text}"`, () => {
      expect(parseDecimal(text)).toBeUndefined()
    })
})
