import type { DocumentSheet, LabelledText, SheetParty } from '../../ports/document-tasks.ts'
import { printedDecimal } from './decimal.ts'
import type { DocumentKind } from './kinds.ts'
import type { DocumentRequest, Payment, Seller } from './request.ts'
import { type DocumentTerms, type Figures, ruleOf, sumsOf } from './sheet-sums.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The content of a document, ready to be typeset. */
export function sheetOf(kind: DocumentKind, request: DocumentRequest, { terms, totals }: Figures): DocumentSheet {
  const { number, buyer, items, notes, pricesIncludeVat } = request
  const { digits, issueDate } = terms
  const hasRates = totals.rates.length > 1
  return {
    heading: kind.heading,
    number,
    issueDate,
    seller: request.seller && sellerOf(kind, request.seller),
    buyer: { label: kind.buyerLabel, name: buyer.name, lines: [...linesOf(buyer.address), ...vatLine(buyer.vatId)] },
    facts: factsOf(kind, request, terms),
    columns: {
      description: 'Description',
      qty: 'Quantity',
      unitPrice: pricesIncludeVat ? 'Unit price incl. VAT' : 'Unit price',
      ...(hasRates ? { vat: 'VAT' } : {}),
      amount: pricesIncludeVat ? 'Amount incl. VAT' : 'Net amount',
    },
    rows: items.map(({ description, qty, unitPrice, vatPercent }, i) => ({
      description,
      qty: printedDecimal(qty),
      unitPrice: printedDecimal(unitPrice, digits),
      ...(hasRates ? { vat: `${printedDecimal(vatPercent ?? request.vatRate)}%` } : {}),
      amount: printedDecimal({ units: totals.lines[i] as bigint, scale: digits }, digits),
    })),
    ...sumsOf(kind, request, { terms, totals }),
    sections: [...paymentSection(request.payment), ...bankSection(kind, request)],
    notes,
    rule: ruleOf(kind, request, { terms, totals }),
  }
}

function factsOf(
  { deadline: rule }: DocumentKind,
  { deadline, originalInvoice, deliveryDate }: DocumentRequest,
  { issueDate, currency }: DocumentTerms,
): readonly LabelledText[] {
  return [
    ...(originalInvoice === null ? [] : [{ label: 'Original invoice', value: originalInvoice }]),
    { label: 'Issue date', value: dayText(issueDate) },
    ...(deliveryDate === null ? [] : [{ label: 'Delivery date', value: dayText(deliveryDate) }]),
    ...(rule === null || deadline === null ? [] : [{ label: rule.label, value: dayText(deadline) }]),
    { label: 'Currency', value: currency },
  ]
}

function sellerOf({ asksForMoney }: DocumentKind, seller: Seller): SheetParty {
  const { name, address, vatId, email, phone, iban, bic } = seller
  // A document that asks for payment shows the bank details in a block of their own.
  const isInPlace = asksForMoney && iban !== null
  return {
    label: 'From',
    name,
    lines: [
      ...linesOf(address),
      ...vatLine(vatId),
      ...(email === null ? [] : [email]),
      ...(phone === null ? [] : [phone]),
      ...(iban === null || isInPlace ? [] : [`IBAN ${spacedIban(iban)}`]),
      ...(bic === null || isInPlace ? [] : [`BIC ${bic}`]),
    ],
  }
}

function vatLine(vatId: string | null): readonly string[] {
  return vatId === null ? [] : [`VAT ID ${vatId}`]
}

function paymentSection(payment: Payment | null): DocumentSheet['sections'] {
  if (payment === null) return []
  const { method, reference, paidOn } = payment
  const facts = [
    { label: 'Method', value: method },
    ...(reference === null ? [] : [{ label: 'Reference', value: reference }]),
    { label: 'Paid on', value: dayText(paidOn) },
  ]
  return [{ heading: 'Payment', facts }]
}

function bankSection({ asksForMoney }: DocumentKind, { seller, number }: DocumentRequest): DocumentSheet['sections'] {
  if (!asksForMoney || seller?.iban == null) return []
  const facts = [
    { label: 'Account holder', value: seller.name },
    { label: 'IBAN', value: spacedIban(seller.iban) },
    ...(seller.bic === null ? [] : [{ label: 'BIC', value: seller.bic }]),
    { label: 'Reference', value: number },
  ]
  return [{ heading: 'Bank details', facts }]
}

function linesOf(text: string | null): readonly string[] {
  return text === null
    ? []
    : text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
}

/** 2026-11-05 as 5 Nov 2026, which no country misreads. */
function dayText(day: string): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  return `${date} ${MONTHS[month - 1]} ${year}`
}

function spacedIban(iban: string): string {
  return iban.replace(/(.{4})(?=.)/g, '$1 ')
}
