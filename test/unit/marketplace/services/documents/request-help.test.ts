import { describe, expect, it } from 'vitest'
import type { DocumentRequest } from '../../../../../marketplace/services/documents/request.ts'
import { readRequest } from '../../../../../marketplace/services/service.ts'
import { DOCUMENT_EXAMPLES } from '../../../../support/document-requests.ts'
import { serviceNamed } from '../../../../support/service-results.ts'

type Fields = Readonly<Record<string, unknown>>

const INVOICE = 'node-invoice-pdf'
const ITEM = { description: 'x', qty: 1, unitPrice: 1 }

function written(changes: Fields, serviceId = INVOICE): string {
  return JSON.stringify({ ...DOCUMENT_EXAMPLES[serviceId], ...changes })
}

function refusalOf(text: string, serviceId = INVOICE): string | null {
  const read = readRequest(serviceNamed(serviceId), text)
  return read.ok ? null : String(read.fault.detail.reason)
}

function readOf(changes: Fields): DocumentRequest {
  const read = readRequest(serviceNamed(INVOICE), written(changes))
  if (!read.ok) throw new Error(JSON.stringify(read.fault))
  return read.value as DocumentRequest
}

describe('requests with fields of other systems', () => {
  const MEANT: readonly (readonly [string, Fields, string])[] = [
    ['quantity', { items: [{ description: 'x', quantity: 1, unitPrice: 1 }] }, 'qty'],
    ['price', { items: [{ description: 'x', qty: 1, price: 1 }] }, 'unitPrice'],
    ['name', { items: [{ name: 'x', qty: 1, unitPrice: 1 }] }, 'description'],
    ['vatRate', { items: [{ ...ITEM, vatRate: 7 }] }, 'vatPercent'],
    ['vat_rate', { items: [{ ...ITEM, vat_rate: 7 }] }, 'vatPercent'],
    ['taxId', { buyer: { name: 'A', taxId: 'DE1' } }, 'vatId'],
    ['grossPrices', { grossPrices: true }, 'pricesIncludeVat'],
    ['prices_include_tax', { prices_include_tax: true }, 'pricesIncludeVat'],
    ['taxIncluded', { taxIncluded: true }, 'pricesIncludeVat'],
    ['vatIncluded', { vatIncluded: true }, 'pricesIncludeVat'],
    ['dateOfSupply', { dateOfSupply: '2026-11-20' }, 'deliveryDate'],
    ['deposit', { deposit: 1 }, 'prepaid'],
    ['swift', { seller: { name: 'A', swift: 'COBADEFF' } }, 'bic'],
  ]
  for (const [named, changes, meant] of MEANT)
    it(`are told that "${named}" is ${meant}`, () => {
      expect(refusalOf(written(changes))).toContain(`did you mean ${meant}?`)
    })

  it('are led to a day that means the same, or to none', () => {
    expect(refusalOf(written({ paidOn: '2026-11-20' }, 'node-receipt-payment'), 'node-receipt-payment')).toContain(
      'did you mean payment.paidOn?',
    )
    for (const id of ['node-invoice-proforma', 'node-quote-estimate'])
      expect(refusalOf(written({ dueDate: '2026-12-24' }, id), id)).toContain('did you mean validUntil?')
    const onQuote = refusalOf(written({ deliveryDate: '2026-12-24' }, 'node-quote-estimate'), 'node-quote-estimate')
    expect(onQuote).toContain('"deliveryDate" is no field of the request; there are')
    const onReceipt = refusalOf(written({ dueDate: '2026-12-24' }, 'node-receipt-payment'), 'node-receipt-payment')
    expect(onReceipt).toContain('"dueDate" is no field of the request; there are')
  })
})

describe('a receipt', () => {
  const receipt = (issueDate: string | undefined, paidOn: string): string | null =>
    refusalOf(
      written({ issueDate, payment: { method: 'Card', paidOn } }, 'node-receipt-payment'),
      'node-receipt-payment',
    )

  it('is not older than its payment', () => {
    expect(receipt('2026-11-19', '2026-11-20')).toBe(
      'payment.paidOn is after the day of issue; it takes 2026-11-19 or an earlier day',
    )
    expect(receipt('2026-11-20', '2026-11-20')).toBeNull()
    expect(receipt(undefined, '2026-11-20')).toBeNull()
  })
})

describe('parties of a document', () => {
  it('have a VAT number, a telephone and a bank code', () => {
    const seller = { name: 'S', phone: '+49 40 1234-0', iban: 'de89 3704 0044 0532 0130 00', bic: 'coba de ff xxx' }
    const read = readOf({ buyer: { name: 'B', vatId: 'ATU12345678' }, seller })
    expect(read.buyer.vatId).toBe('ATU12345678')
    expect(read.seller).toMatchObject({
      phone: '+49 40 1234-0',
      iban: 'DE89370400440532013000',
      bic: 'COBADEFFXXX',
    })
  })

  it.each(['CHE-123.456.789 MWST', 'NO 974 760 673 MVA', 'IE1S23456L', '12.345.678/0001-90', 'T1234567890123'])(
    'take the VAT number %s',
    (vatId) => {
      expect(readOf({ buyer: { name: 'B', vatId } }).buyer.vatId).toBe(vatId)
    },
  )

  const REFUSED: readonly (readonly [string, string, string])[] = [
    ['vatId', 'none', 'the number under which one pays VAT or tax, like DE123456788'],
    ['email', 'nope', 'a mail address, like billing@example.com'],
    ['email', 'a@b', 'a mail address, like billing@example.com'],
    ['email', 'a b@example.com', 'a mail address, like billing@example.com'],
    ['bic', 'COBADEF', 'a BIC of 8 or 11 characters, like COBADEFFXXX'],
  ]
  for (const [field, value, expects] of REFUSED)
    it(`refuse the ${field} ${value}`, () => {
      expect(refusalOf(written({ seller: { name: 'S', [field]: value } }))).toBe(`seller.${field} takes ${expects}`)
    })
})

describe('text from word processors', () => {
  it('loses what is invisible, and has spaces for tabs', () => {
    const description = '\ufeffLager\u00adregal\t3\u200b \u2060cm'
    expect(readOf({ items: [{ ...ITEM, description }] }).items[0]?.description).toBe('Lagerregal 3 cm')
  })

  it('that is invisible altogether is none', () => {
    expect(refusalOf(written({ notes: '\u00ad\u200b' }))).toContain('notes takes text of 1 to 2000 characters')
  })
})

describe('JSON text', () => {
  it.each([
    ['{"vatRate":1,"vatRate":2}', 'vatRate'],
    ['{"buyer":{"name":"A \\"}{","na\\u006de":"B"},"vatRate":1}', 'name'],
    ['{"items":[{"qty":1},{"qty":1,"x":"qty","qty" :2}]}', 'qty'],
  ])('with a member twice is refused: %s', (text, member) => {
    expect(refusalOf(text)).toBe(`"${member}" is there twice in one object; leave one of them out`)
  })

  const BROKEN: readonly (readonly [string, string])[] = [
    ['{"vatRate":1 "x":2}', 'it is broken near letter 14, at "'],
    ['{"vatRate":1,\n}', 'it is broken near letter 13, at ,: no comma may follow the last member'],
    ['{"items":[1, ]}', 'it is broken near letter 12, at ,: no comma may follow the last member'],
    ['{"vatRate":}', 'it is broken near letter 12, at }'],
    ["{'vatRate':1}", "it is broken near letter 2, at '"],
    ['an invoice please', 'it is broken near letter 1, at a'],
    ['{"vatRate":1', 'it ends before it is complete'],
    ['{"vatRate":"1', 'it ends before it is complete'],
  ]
  for (const [text, where] of BROKEN)
    it(`that is none is shown where: ${text}`, () => {
      const told = 'the request is not JSON text; it takes an object with the fields of requestFormat'
      expect(refusalOf(text)).toBe(`${told}; ${where}`)
    })
})
