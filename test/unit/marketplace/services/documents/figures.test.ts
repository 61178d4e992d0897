import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentSheet } from '../../../../../marketplace/ports/document-tasks.ts'
import type { ServiceContext } from '../../../../../marketplace/services/context.ts'
import { DOCUMENT_EXAMPLES } from '../../../../support/document-requests.ts'
import { type DocumentShop, documentShop } from '../../../../support/documents.ts'
import { ask, resultOf } from '../../../../support/service-results.ts'

const NOW = '2026-11-22T10:00:00.000Z'
const INVOICE = { ...DOCUMENT_EXAMPLES['node-invoice-pdf'], items: items(['1', '100']), vatRate: 19 }

let shop: DocumentShop
beforeAll(async () => {
  shop = await documentShop()
})
afterAll(() => shop.close())

type Fields = Readonly<Record<string, unknown>>

type Row = readonly [qty: string, unitPrice: string, vatPercent?: number]

function items(...rows: readonly Row[]): readonly Fields[] {
  return rows.map(([qty, unitPrice, vatPercent]) => ({ description: 'x', qty, unitPrice, vatPercent }))
}

/** The result of a document service, as JSON and as the sheet that is printed. */
async function made(changes: Fields, serviceId = 'node-invoice-pdf', now = NOW): Promise<[Fields, DocumentSheet]> {
  const sheets: DocumentSheet[] = []
  const context = shop.contextAt(now)
  const { documents } = context.outside
  const render: typeof documents.render = (sheet, signal) => {
    sheets.push(sheet)
    return documents.render(sheet, signal)
  }
  const watched: ServiceContext = { ...context, outside: { ...context.outside, documents: { ...documents, render } } }
  const base = serviceId === 'node-invoice-pdf' ? INVOICE : DOCUMENT_EXAMPLES[serviceId]
  const result = await resultOf<Fields>(serviceId, JSON.stringify({ ...base, ...changes }), watched)
  return [result, sheets[0]!]
}

async function refusalOf(changes: Fields, serviceId = 'node-invoice-pdf', now = NOW): Promise<string | null> {
  const base = serviceId === 'node-invoice-pdf' ? INVOICE : DOCUMENT_EXAMPLES[serviceId]
  const answer = await ask(serviceId, JSON.stringify({ ...base, ...changes }), shop.contextAt(now))
  return 'refused' in answer ? answer.refused : null
}

describe('a credit note', () => {
  const credited = async (...rows: readonly Row[]) => {
    const [result, sheet] = await made({ items: items(...rows), currency: 'EUR', vatRate: 19 }, 'node-credit-note')
    const { lines, netTotal, grossTotal } = result as {
      lines: readonly { net: string }[]
      netTotal: string
      grossTotal: string
    }
    return { lines: lines.map(({ net }) => net), netTotal, grossTotal, printed: sheet.totals.at(-1) }
  }

  it('says the same whether it tells the credit or the change of the invoice', async () => {
    const printed = { label: 'Total credited', value: 'EUR 357.00' }
    const all = { lines: ['300.00'], netTotal: '300.00', grossTotal: '357.00', printed }
    expect(await credited(['2.5', '120'])).toEqual(all)
    expect(await credited(['2.5', '-120'])).toEqual(all)
  })

  it('has a line that lessens it on the other side of zero', async () => {
    const printed = { label: 'Total credited', value: 'EUR 113.05' }
    const all = { lines: ['100.00', '-5.00'], netTotal: '95.00', grossTotal: '113.05', printed }
    expect(await credited(['1', '100'], ['1', '-5'])).toEqual(all)
    expect(await credited(['1', '-100'], ['1', '5'])).toEqual(all)
  })

  const turned = (rows: readonly Row[]): readonly Row[] =>
    rows.map(([qty, price, ...rate]) => [qty, String(-Number(price)), ...rate])
  const note = (rows: readonly Row[], changes: Fields = {}): Fields => ({
    items: items(...rows),
    currency: 'EUR',
    vatRate: 19,
    ...changes,
  })

  it('credits VAT that was too much, the net sum staying as it is', async () => {
    const rows: readonly Row[] = [
      ['1', '100'],
      ['1', '-100', 7],
    ]
    for (const written of [rows, turned(rows)]) {
      const [result] = await made(note(written), 'node-credit-note')
      expect(result).toMatchObject({ netTotal: '0.00', vatAmount: '12.00', grossTotal: '12.00' })
    }
  })

  it.for<[string, readonly Row[], Fields, string]>([
    [
      'net prices',
      [
        ['1', '100', 7],
        ['1', '-95'],
      ],
      {},
      'EUR 5.00 without VAT for one side and to EUR 6.05 with VAT',
    ],
    [
      'prices with VAT',
      [
        ['1', '100'],
        ['1', '-95', 7],
      ],
      { pricesIncludeVat: true },
      'EUR 4.76 without VAT for one side and to EUR 5.00 with VAT',
    ],
    [
      'a discount',
      [
        ['1', '10', 7],
        ['1', '-9'],
      ],
      { discount: { percent: 50 } },
      'without VAT for one side and to EUR 0.01 with VAT',
    ],
    [
      'a currency without cents',
      [
        ['1', '100', 7],
        ['1', '-95'],
      ],
      { currency: 'JPY' },
      'JPY 6 with VAT',
    ],
  ])('is refused with %s that go one way without VAT and the other with it', async ([, rows, changes, why]) => {
    for (const written of [rows, turned(rows)]) {
      const refused = await refusalOf(note(written, changes), 'node-credit-note')
      expect(refused).toContain(why)
      expect(refused).toContain('which is no credit')
    }
  })
})

describe('a receipt', () => {
  const paidOn = (day: string, now: string): Promise<string | null> =>
    refusalOf({ issueDate: undefined, payment: { method: 'Card', paidOn: day } }, 'node-receipt-payment', now)

  it('is not of a day that has begun nowhere', async () => {
    expect(await paidOn('2026-11-22', NOW)).toBeNull()
    expect(await paidOn('2026-11-23', NOW)).toBeNull()
    expect(await paidOn('2026-11-23', '2026-11-22T09:59:59.999Z')).toBe(
      'payment.paidOn is in the future; it takes 2026-11-22 or an earlier day',
    )
    expect(await paidOn('2027-11-22', NOW)).toContain('payment.paidOn is in the future; it takes 2026-11-23')
  })

  it('is of the day of its payment where that has begun in the east alone', async () => {
    const payment = { method: 'Card', paidOn: '2026-11-23' }
    const [result] = await made({ issueDate: undefined, payment }, 'node-receipt-payment')
    expect(result.issueDate).toBe('2026-11-23')
  })
})

describe('parties', () => {
  const seller = { name: 'S', phone: '+49 40 1234', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' }

  it('are printed with what identifies them', async () => {
    const [, sheet] = await made({ buyer: { name: 'B', vatId: 'ATU12345678' }, seller }, 'node-quote-estimate')
    expect(sheet.buyer.lines).toEqual(['VAT ID ATU12345678'])
    expect(sheet.seller?.lines).toEqual(['+49 40 1234', 'IBAN DE89 3704 0044 0532 0130 00', 'BIC COBADEFFXXX'])
    expect(sheet.sections).toEqual([])
  })

  it('have a place for their bank where money is asked for', async () => {
    const [, sheet] = await made({ seller })
    expect(sheet.seller?.lines).toEqual(['+49 40 1234'])
    expect(sheet.sections.at(-1)?.facts.map(({ label }) => label)).toEqual([
      'Account holder',
      'IBAN',
      'BIC',
      'Reference',
    ])
    const [, without] = await made({ seller: { ...seller, iban: undefined } })
    expect(without.seller?.lines).toEqual(['+49 40 1234', 'BIC COBADEFFXXX'])
  })
})

describe('VAT and discounts', () => {
  it('change nothing of a document without them', async () => {
    const [result, sheet] = await made({})
    expect(result).not.toHaveProperty('discount')
    expect(result).not.toHaveProperty('vat')
    expect(result.lines).toEqual([{ description: 'x', qty: '1', unitPrice: '100.00', net: '100.00' }])
    expect(sheet.totals.map(({ label }) => label)).toEqual(['Net total', 'VAT 19%', 'Total due'])
    expect(Object.keys(sheet.columns)).toEqual(['description', 'qty', 'unitPrice', 'amount'])
  })

  it('come in a line for each rate', async () => {
    const rows = items(['1', '100'], ['2', '10', 7], ['1', '50', 0], ['1', '30', 7])
    const [result, sheet] = await made({ items: rows })
    expect(result).toMatchObject({
      netTotal: '200.00',
      vatRate: 19,
      vatAmount: '22.50',
      vat: [
        { vatPercent: 19, net: '100.00', amount: '19.00' },
        { vatPercent: 7, net: '50.00', amount: '3.50' },
        { vatPercent: 0, net: '50.00', amount: '0.00' },
      ],
      grossTotal: '222.50',
    })
    expect(sheet.rows.map(({ vat }) => vat)).toEqual(['19%', '7%', '0%', '7%'])
    expect(sheet.totals).toEqual([
      { label: 'Net total', value: '200.00' },
      { label: 'VAT 19% on 100.00', value: '19.00' },
      { label: 'VAT 7% on 50.00', value: '3.50' },
      { label: 'VAT 0% on 50.00', value: '0.00' },
      { label: 'Total due', value: 'EUR 222.50' },
    ])
    expect(sheet.rule).toContain('VAT is worked out once for each rate, on the sum of its lines.')
  })

  it('are worked out after a discount in per cent', async () => {
    const [result, sheet] = await made({ discount: { percent: 10 } })
    const discount = { percent: 10, amount: '10.00', itemsTotal: '100.00' }
    expect(result).toMatchObject({ discount, netTotal: '90.00', vatAmount: '17.10', grossTotal: '107.10' })
    expect(sheet.totals.slice(0, 3)).toEqual([
      { label: 'Items total', value: '100.00' },
      { label: 'Discount 10%', value: '\u221210.00' },
      { label: 'Net total', value: '90.00' },
    ])
  })

  it('share an amount among the rates, to the last cent', async () => {
    const rows = items(['1', '10'], ['1', '10', 7], ['1', '10', 0])
    const [result] = await made({ items: rows, discount: { amount: '10.00' } })
    expect(result).toMatchObject({
      discount: { amount: '10.00', itemsTotal: '30.00' },
      netTotal: '20.00',
      vat: [{ net: '6.67' }, { net: '6.66' }, { net: '6.67' }],
    })
  })

  it('take no discount that is more than all, or no amount of the currency', async () => {
    expect(await refusalOf({ discount: { amount: 100 } })).toBeNull()
    expect(await refusalOf({ discount: { amount: '100.01' } })).toBe(
      'discount.amount is more than the items come to; it takes up to EUR 100.00',
    )
    expect(await refusalOf({ discount: { amount: '0.001' } })).toBe(
      'discount.amount takes at most 2 decimals, as amounts in EUR have',
    )
  })
})

describe('prices that include VAT', () => {
  const till = { pricesIncludeVat: true, items: items(['1', '9.99']) }

  it('are the gross total to the cent', async () => {
    const [result, sheet] = await made(till, 'node-receipt-payment')
    expect(result).toMatchObject({ pricesIncludeVat: true, vatRate: 25, netTotal: '7.99', vatAmount: '2.00' })
    expect(result.grossTotal).toBe('9.99')
    expect(result.lines).toEqual([{ description: 'x', qty: '1', unitPrice: '9.99', gross: '9.99' }])
    expect(sheet.columns).toMatchObject({ unitPrice: 'Unit price incl. VAT', amount: 'Amount incl. VAT' })
    expect(sheet.totals).toEqual([{ label: 'Total paid', value: 'SEK 9.99' }])
    expect(sheet.contained).toEqual([
      { label: 'Of which net', value: '7.99' },
      { label: 'Of which VAT 25%', value: '2.00' },
    ])
    expect(sheet.rule).toBe(
      'Prices include VAT. Each line is rounded to the nearest SEK 0.01, halves away from zero; VAT is worked out once, as rate / (100 + rate) of the total.',
    )
  })

  it('are not said of a document whose prices do not', async () => {
    const [plain, plainSheet] = await made({})
    const [result, sheet] = await made({ pricesIncludeVat: false })
    expect({ ...result, asOf: plain.asOf }).toEqual(plain)
    expect(result).not.toHaveProperty('pricesIncludeVat')
    expect(sheet).toEqual(plainSheet)
    expect(sheet).not.toHaveProperty('contained')
  })

  it('have a discount off the gross sum, and VAT in each rate', async () => {
    const rows = items(['1', '29.99'], ['3', '9.99', 7])
    const [result, sheet] = await made({ ...till, items: rows, discount: { percent: 5 } })
    expect(result).toMatchObject({
      discount: { percent: 5, amount: '3.00', itemsTotal: '59.96' },
      netTotal: '50.55',
      vatAmount: '6.41',
      vat: [
        { vatPercent: 19, net: '23.94', amount: '4.55' },
        { vatPercent: 7, net: '26.61', amount: '1.86' },
      ],
      grossTotal: '56.96',
    })
    expect(sheet.totals).toEqual([
      { label: 'Items total', value: '59.96' },
      { label: 'Discount 5%', value: '\u22123.00' },
      { label: 'Total due', value: 'EUR 56.96' },
    ])
    expect(sheet.contained).toEqual([
      { label: 'Of which net', value: '50.55' },
      { label: 'Of which VAT 19% on 23.94', value: '4.55' },
      { label: 'Of which VAT 7% on 26.61', value: '1.86' },
    ])
    expect(sheet.rule).toContain(
      'once for each rate, as rate / (100 + rate) of the sum of its lines after its share of the discount.',
    )
    expect(await refusalOf({ ...till, discount: { amount: '9.99' } })).toBeNull()
    expect(await refusalOf({ ...till, discount: { amount: '10.00' } })).toBe(
      'discount.amount is more than the items come to; it takes up to EUR 9.99',
    )
  })

  it('are credited with either sign', async () => {
    const credited = async (...rows: readonly Row[]) =>
      (await made({ ...till, items: items(...rows), currency: 'EUR', vatRate: 19 }, 'node-credit-note'))[0]
    const lessened = { netTotal: '7.55', vatAmount: '1.44', grossTotal: '8.99' }
    for (const sign of ['', '-']) {
      const other = sign === '' ? '-' : ''
      const result = await credited(['1', `${sign}9.99`], ['1', `${other}1`])
      expect(result).toMatchObject({ ...lessened, lines: [{ gross: '9.99' }, { gross: '-1.00' }] })
    }
  })

  it('have the sums in order where a part was paid before', async () => {
    const [result, sheet] = await made({ ...till, prepaid: '4' })
    expect(result).toMatchObject({ grossTotal: '9.99', prepaid: '4.00', amountDue: '5.99' })
    expect(sheet.totals).toEqual([
      { label: 'Total incl. VAT', value: '9.99' },
      { label: 'Of which net', value: '8.39' },
      { label: 'Of which VAT 19%', value: '1.60' },
      { label: 'Already paid', value: '\u22124.00' },
      { label: 'Total due', value: 'EUR 5.99' },
    ])
    expect(sheet).not.toHaveProperty('contained')
  })
})

describe('what was paid before', () => {
  it('is taken off the gross total', async () => {
    const [result, sheet] = await made({ prepaid: 19.5 })
    expect(result).toMatchObject({ grossTotal: '119.00', prepaid: '19.50', amountDue: '99.50' })
    expect(sheet.totals).toEqual([
      { label: 'Net total', value: '100.00' },
      { label: 'VAT 19%', value: '19.00' },
      { label: 'Total incl. VAT', value: '119.00' },
      { label: 'Already paid', value: '\u221219.50' },
      { label: 'Total due', value: 'EUR 99.50' },
    ])
    const [plain] = await made({})
    expect(plain).not.toHaveProperty('prepaid')
    expect(plain).not.toHaveProperty('amountDue')
  })

  it('is at most the gross total, in digits of the currency', async () => {
    const [all] = await made({ prepaid: '119.00' })
    expect(all.amountDue).toBe('0.00')
    expect(await refusalOf({ prepaid: '119.01' })).toBe(
      'prepaid is more than there is to pay; it takes up to EUR 119.00',
    )
    expect(await refusalOf({ prepaid: '0.001' })).toBe('prepaid takes at most 2 decimals, as amounts in EUR have')
    expect(await refusalOf({ prepaid: 100, discount: { percent: 50 } })).toBe(
      'prepaid is more than there is to pay; it takes up to EUR 59.50',
    )
  })
})

describe('a day of delivery', () => {
  it('stands below that of issue', async () => {
    const [result, sheet] = await made({ deliveryDate: '2026-11-19' })
    expect(result.deliveryDate).toBe('2026-11-19')
    expect(sheet.facts.slice(0, 3)).toEqual([
      { label: 'Issue date', value: '22 Nov 2026' },
      { label: 'Delivery date', value: '19 Nov 2026' },
      { label: 'Due date', value: '6 Dec 2026' },
    ])
    expect((await made({}))[0]).not.toHaveProperty('deliveryDate')
  })
})
