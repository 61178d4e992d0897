import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRequest } from '../../../../../marketplace/services/service.ts'
import { DOCUMENT_EXAMPLES } from '../../../../support/document-requests.ts'
import { serviceNamed } from '../../../../support/service-results.ts'

type Fields = Readonly<Record<string, unknown>>

const INVOICE: Fields = {
  invoiceNumber: '1',
  buyer: { name: 'A' },
  items: [{ description: 'x', qty: 1, unitPrice: 1 }],
  vatRate: 0,
}

function refusalOf(text: string, serviceId = 'node-invoice-pdf'): string | null {
  const read = readRequest(serviceNamed(serviceId), text)
  return read.ok ? null : String(read.fault.detail.reason)
}

function refused(changes: Fields, serviceId?: string): string | null {
  return refusalOf(JSON.stringify({ ...INVOICE, ...changes }), serviceId)
}

function rates(count: number): Fields {
  const items = Array.from({ length: count }, (_, i) => ({ description: 'x', qty: 1, unitPrice: 1, vatPercent: i }))
  return { items }
}

function item(changes: Fields): Fields {
  return { items: [{ description: 'x', qty: 1, unitPrice: 1, ...changes }] }
}

const QTY = 'a number above 0, up to 1000000000, with at most 4 decimals, like 2.5 or "2.5"'
const PRICE = 'a number 0 or more, up to 1000000000, with at most 6 decimals, like 2.5 or "2.5"'
const RATE = 'a number 0 or more, up to 100, with at most 3 decimals, like 2.5 or "2.5"'
const DAY = 'a day as YYYY-MM-DD, like 2026-11-30'
const IBAN = 'an IBAN with right check digits, like DE89 3704 0044 0532 0130 00'
const ADDRESS = 'text of 1 to 500 characters on at most 10 lines'
const FIELDS =
  'invoiceNumber, buyer, items, vatRate, pricesIncludeVat, discount, prepaid, dueDate, deliveryDate, seller, currency, issueDate, notes'
const FLAG = 'true or false, without quotation marks'
const PREPAID = 'a number 0 or more, up to 2000000000000000, with at most 6 decimals, like 2.5 or "2.5"'

describe('requests of documents', () => {
  for (const [serviceId, request] of Object.entries(DOCUMENT_EXAMPLES)) {
    it(`${serviceId} takes a whole request`, () => {
      expect(refusalOf(JSON.stringify(request), serviceId)).toBeNull()
    })
  }

  const TAKEN: readonly (readonly [string, Fields])[] = [
    ['amounts as text', item({ qty: '0.0001', unitPrice: '0.000001' })],
    ['the largest amounts', item({ qty: 1_000_000, unitPrice: 1e9 })],
    ['amounts with zeros at the end', item({ qty: '2.50000', unitPrice: '1.1000000' })],
    ['a rate with three decimals', { vatRate: 8.375 }],
    ['200 items', { items: Array.from({ length: 200 }, () => ({ description: 'x', qty: 1, unitPrice: 0 })) }],
    ['an address of ten lines', { buyer: { name: 'A', address: Array(10).fill('x').join('\r\n') } }],
    ['an IBAN with blanks', { seller: { name: 'S', iban: 'gb29 nwbk\u00a06016 1331 9268 19' } }],
    ['thirty rates of VAT', rates(30)],
    ['a leap day', { issueDate: '2028-02-29' }],
    ['a due date on the day of issue', { issueDate: '2026-01-01', dueDate: '2026-01-01' }],
    ['prices with VAT', { pricesIncludeVat: true }],
    ['prices that are said to be before VAT', { pricesIncludeVat: false }],
    ['a delivery after the issue', { issueDate: '2026-01-01', deliveryDate: '2026-02-01' }],
    ['nothing paid before', { prepaid: 0 }],
    ['decomposed letters', { buyer: { name: 'A\u0308rzte' } }],
  ]
  for (const [what, changes] of TAKEN)
    it(`take ${what}`, () => {
      expect(refused(changes)).toBeNull()
    })

  const REFUSED: readonly (readonly [string, Fields, string])[] = [
    [
      'an unknown field',
      { VATrate: 1 },
      `"VATrate" is no field of the request; did you mean vatRate? there are ${FIELDS}`,
    ],
    [
      'a mistyped field',
      { discuont: 1 },
      `"discuont" is no field of the request; did you mean discount? there are ${FIELDS}`,
    ],
    [
      'a mistyped field of an item',
      item({ unitprice: 1 }),
      '"unitprice" is no field of items[0]; did you mean unitPrice? there are description, qty, unitPrice, vatPercent',
    ],
    ['a discount of nothing', { discount: {} }, 'discount takes either percent or amount'],
    ['a discount of both kinds', { discount: { percent: 1, amount: 1 } }, 'discount takes either percent or amount'],
    ['a discount of more than all', { discount: { percent: 101 } }, `discount.percent takes ${RATE}`],
    [
      'an unknown field of the buyer',
      { buyer: { name: 'A', adress: 'x' } },
      '"adress" is no field of buyer; did you mean address? there are name, address, vatId',
    ],
    [
      'a field of another document',
      { validUntil: '2026-01-01' },
      `"validUntil" is no field of the request; there are ${FIELDS}`,
    ],
    [
      'no number',
      { invoiceNumber: undefined },
      'invoiceNumber is missing; it takes text of 1 to 64 characters on one line',
    ],
    [
      'a number that is none of text',
      { invoiceNumber: 7 },
      'invoiceNumber takes text of 1 to 64 characters on one line',
    ],
    ['a long number', { invoiceNumber: 'x'.repeat(65) }, 'invoiceNumber takes text of 1 to 64 characters on one line'],
    ['an empty number', { invoiceNumber: '  ' }, 'invoiceNumber takes text of 1 to 64 characters on one line'],
    ['a buyer as text', { buyer: 'A' }, 'buyer takes an object with name, address, vatId'],
    ['null', { notes: null }, 'notes takes text of 1 to 2000 characters on at most 60 lines'],
    ['two lines in a name', { buyer: { name: 'A\nB' } }, 'buyer.name takes text of 1 to 200 characters on one line'],
    [
      'an address of eleven lines',
      { buyer: { name: 'A', address: Array(11).fill('x').join('\n') } },
      `buyer.address takes ${ADDRESS}`,
    ],
    ['no items', { items: [] }, 'items takes a list of 1 to 200'],
    ['201 items', { items: Array(201).fill(1) }, 'items takes a list of 1 to 200'],
    ['items that are an object', { items: {} }, 'items takes a list of 1 to 200'],
    ['an item without quantity', item({ qty: undefined }), `items[0].qty is missing; it takes ${QTY}`],
    ['a quantity of 0', item({ qty: 0 }), `items[0].qty takes ${QTY}`],
    ['a quantity below 0', item({ qty: '-1' }), `items[0].qty takes ${QTY}`],
    ['five decimals of a quantity', item({ qty: '0.00001' }), `items[0].qty takes ${QTY}`],
    ['too large a quantity', item({ qty: '1000000000.0001' }), `items[0].qty takes ${QTY}`],
    [
      'a price below 0',
      item({ unitPrice: -0.01 }),
      `items[0].unitPrice takes ${PRICE}; what is taken off goes into discount, what is given back into a credit note`,
    ],
    ['more rates of VAT than a page has lines for', rates(31), 'items have 31 rates of VAT; a document has at most 30'],
    ['a comma', item({ unitPrice: '1,50' }), `items[0].unitPrice takes ${PRICE}`],
    ['an exponent as text', item({ unitPrice: '1e3' }), `items[0].unitPrice takes ${PRICE}`],
    ['a plus', item({ unitPrice: '+1' }), `items[0].unitPrice takes ${PRICE}`],
    ['zeros at the front', item({ unitPrice: '007' }), `items[0].unitPrice takes ${PRICE}`],
    ['a price without end', item({ unitPrice: `1.${'3'.repeat(5_000)}` }), `items[0].unitPrice takes ${PRICE}`],
    ['true as a price', item({ unitPrice: true }), `items[0].unitPrice takes ${PRICE}`],
    [
      'a line that is too large',
      item({ qty: 1e9, unitPrice: 1e9 }),
      'items[0] comes to more than 1000000000000000; a line is limited to that',
    ],
    [
      'a sum that is too large',
      { items: Array(2).fill({ description: 'x', qty: 600_000, unitPrice: 1e9 }) },
      'items come to more than 1000000000000000 together; a document is limited to that',
    ],
    ['a rate above 100', { vatRate: 100.001 }, `vatRate takes ${RATE}`],
    ['a rate with a sign of per cent', { vatRate: '19%' }, `vatRate takes ${RATE}`],
    ['no rate', { vatRate: undefined }, `vatRate is missing; it takes ${RATE}`],
    ['a currency that there is not', { currency: 'ABC' }, 'currency takes a currency of ISO 4217, like EUR'],
    ['a currency in small letters', { currency: 'eur' }, 'currency takes a currency of ISO 4217, like EUR'],
    ['a day that there is not', { issueDate: '2026-02-29' }, 'issueDate: there is no day 2026-02-29 in the calendar'],
    ['a day in another order', { issueDate: '22.11.2026' }, `issueDate takes ${DAY}`],
    [
      'a due date before the issue',
      { issueDate: '2026-11-22', dueDate: '2026-11-21' },
      'dueDate is before the day of issue; it takes 2026-11-22 or a later day',
    ],
    [
      'an IBAN with a wrong digit',
      { seller: { name: 'S', iban: 'DE89370400440532013001' } },
      `seller.iban takes ${IBAN}`,
    ],
    ['an IBAN of digits alone', { seller: { name: 'S', iban: '1'.repeat(20) } }, `seller.iban takes ${IBAN}`],
    ['text for a flag', { pricesIncludeVat: 'true' }, `pricesIncludeVat takes ${FLAG}`],
    ['a number for a flag', { pricesIncludeVat: 1 }, `pricesIncludeVat takes ${FLAG}`],
    ['null for a flag', { pricesIncludeVat: null }, `pricesIncludeVat takes ${FLAG}`],
    ['a month of delivery', { deliveryDate: '2026-11' }, `deliveryDate takes ${DAY}`],
    [
      'a day of delivery that there is not',
      { deliveryDate: '2026-11-31' },
      'deliveryDate: there is no day 2026-11-31 in the calendar',
    ],
    ['less than nothing paid before', { prepaid: -1 }, `prepaid takes ${PREPAID}`],
    ['a part in per cent paid before', { prepaid: '10%' }, `prepaid takes ${PREPAID}`],
    ['a control character', { notes: 'a\u0007b' }, 'notes holds U+0007, which cannot be printed'],
    [
      'a mark of direction',
      item({ description: 'a\u202eb' }),
      'items[0].description holds U+202E, which cannot be printed',
    ],
    ['a line separator', { notes: 'a\u2028b' }, 'notes holds U+2028, which cannot be printed'],
    ['a private character', { notes: '\ue000' }, 'notes holds U+E000, which cannot be printed'],
    ['towers of marks', { notes: `a${'\u0336'.repeat(4)}` }, 'notes has more than 3 marks on one letter'],
    ['endless towers of marks', { notes: `a${'\u0336'.repeat(2_000)}` }, 'notes has more than 3 marks on one letter'],
  ]
  for (const [what, changes, reason] of REFUSED)
    it(`refuse ${what}`, () => {
      expect(refused(changes)).toBe(reason)
    })

  const TEXTS: readonly (readonly [string, string, string])[] = [
    [
      'no JSON',
      'an invoice please',
      'the request is not JSON text; it takes an object with the fields of requestFormat',
    ],
    ['nothing', '', 'the request is not JSON text; it takes an object with the fields of requestFormat'],
    ['a list', '[]', `the request takes an object with ${FIELDS}`],
    ['a prototype', '{"__proto__":{}}', `"__proto__" is no field of the request; there are ${FIELDS}`],
    [
      'a nest without end',
      '['.repeat(60_000),
      'the request is not JSON text; it takes an object with the fields of requestFormat',
    ],
    ['a deep nest that ends', '['.repeat(30_000) + ']'.repeat(30_000), 'the request'],
    ['more bytes than 64 kB', JSON.stringify({ notes: '€'.repeat(22_000) }), 'the request is limited to 65536 bytes'],
    [
      'a number with digits that get lost',
      '{"vatRate":0.1000000000000000055}',
      'the number 0.1000000000000000055 has an exponent or more digits than JSON numbers keep; write it as text, in digits with at most one point',
    ],
    [
      'a number that is long with zeros',
      `{"vatRate":1.${'0'.repeat(60_000)}}`,
      `the number 1.${'0'.repeat(38)} has an exponent or more digits than JSON numbers keep`,
    ],
    [
      'a number with an exponent',
      '{"vatRate":1e1}',
      'the number 1e1 has an exponent or more digits than JSON numbers keep; write it as text, in digits with at most one point',
    ],
  ]
  for (const [what, text, reason] of TEXTS)
    it(`refuse ${what}`, () => {
      expect(refusalOf(text)).toContain(reason)
    })

  it('ask for what a kind of document must have', () => {
    const without = (serviceId: string, field: string): string | null =>
      refusalOf(JSON.stringify({ ...DOCUMENT_EXAMPLES[serviceId], [field]: undefined }), serviceId)
    expect(without('node-quote-estimate', 'validUntil')).toBe(`validUntil is missing; it takes ${DAY}`)
    expect(without('node-invoice-proforma', 'validUntil')).toBeNull()
    expect(without('node-receipt-payment', 'payment')).toBe(
      'payment is missing; it takes an object with method, reference, paidOn',
    )
    expect(without('node-credit-note', 'originalInvoice')).toBe(
      'originalInvoice is missing; it takes text of 1 to 64 characters on one line',
    )
  })

  it('take a delivery date and what was paid before where they belong', () => {
    const taking = (field: string, value: unknown): readonly string[] =>
      Object.entries(DOCUMENT_EXAMPLES)
        .filter(([id, request]) => refusalOf(JSON.stringify({ ...request, [field]: value }), id) === null)
        .map(([id]) => id)
    expect(taking('deliveryDate', '2026-11-20')).toEqual(['node-invoice-pdf', 'node-receipt-payment'])
    expect(taking('prepaid', '1')).toEqual(['node-invoice-pdf'])
    expect(taking('pricesIncludeVat', true)).toEqual(Object.keys(DOCUMENT_EXAMPLES))
  })

  it('take numbers as they are written', () => {
    const read = readRequest(
      serviceNamed('node-invoice-pdf'),
      JSON.stringify({ ...INVOICE, ...item({ qty: 0.1, unitPrice: 1.1 }) }),
    )
    expect(read.ok && read.value).toMatchObject({
      items: [{ qty: { units: 1n, scale: 1 }, unitPrice: { units: 11n, scale: 1 } }],
    })
  })

  it('are as long as docs/services.md says', () => {
    const document = readFileSync(join(import.meta.dirname, '../../../../../docs/services.md'), 'utf8')
    const takenBy = (field: string): string | undefined =>
      document
        .split('\n')
        .map((line) => line.split(' | '))
        .find(([, fields]) => fields?.includes(`\`${field}\``))?.[0]
        ?.replace(/^\| /, '')
    const long = 'x'.repeat(3_000)
    const { buyer } = INVOICE
    for (const [field, changes] of Object.entries<Fields>({
      invoiceNumber: { invoiceNumber: long },
      'buyer.address': { buyer: { ...(buyer as Fields), address: long } },
      'items[].description': item({ description: long }),
      'seller.phone': { seller: { name: 'S', phone: long } },
      notes: { notes: long },
    })) {
      expect(refused(changes)).toBe(`${field.replace('[]', '[0]')} takes ${takenBy(field)}`)
    }
  })
})
