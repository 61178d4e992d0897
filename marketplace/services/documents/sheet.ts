import type { DocumentSheet, LabelledText, SheetParty } from '../../outside/document-tasks.ts'
import { type Decimal, printedDecimal } from './decimal.ts'
import type { DocumentKind } from './kinds.ts'
import type { DocumentRequest, Payment, Seller } from './request.ts'
import type { Totals } from './totals.ts'

/** What is settled about a document beside its request. */
export interface DocumentTerms {
  readonly currency: string
  /** Digits after the point of amounts. */
  readonly digits: number
  readonly issueDate: string
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A document as it will be set. */
export function sheetOf(
  kind: DocumentKind,
  request: DocumentRequest,
  { terms, totals }: { readonly terms: DocumentTerms; readonly totals: Totals },
): DocumentSheet {
  const { number, buyer, items, notes } = request
  const { digits, issueDate } = terms
  const hasRates = totals.rates.length > 1
  const sum = (value: bigint): string => printedDecimal({ units: value, scale: digits }, digits)
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
      unitPrice: 'Unit price',
      ...(hasRates ? { vat: 'VAT' } : {}),
      net: 'Net amount',
    },
    rows: items.map(({ description, qty, unitPrice, vatPercent }, i) => ({
      description,
      qty: printedDecimal(qty),
      unitPrice: printedDecimal(unitPrice, digits),
      ...(hasRates ? { vat: `${printedDecimal(vatPercent ?? request.vatRate)}%` } : {}),
      net: sum(totals.lines[i] as bigint),
    })),
    totals: [
      ...discountLines(request, totals, sum),
      { label: 'Net total', value: sum(totals.net) },
      ...vatLines(totals, sum),
      { label: kind.grossLabel, value: `${terms.currency} ${sum(totals.gross)}` },
    ],
    sections: [...paymentSection(request.payment), ...bankSection(kind, request)],
    notes,
    rule: ruleOf(kind, terms, request, totals),
  }
}

type Printed = (units: bigint) => string

function discountLines({ discount }: DocumentRequest, totals: Totals, sum: Printed): readonly LabelledText[] {
  if (discount === null) return []
  const rate = discount.percent === null ? '' : ` ${printedDecimal(discount.percent)}%`
  return [
    { label: 'Items total', value: sum(totals.net + totals.discount) },
    { label: `Discount${rate}`, value: sum(-totals.discount) },
  ]
}

function vatLines({ rates }: Totals, sum: Printed): readonly LabelledText[] {
  return rates.map(({ rate, net, vat }) => {
    const on = rates.length > 1 ? ` on ${sum(net)}` : ''
    return { label: `VAT ${printedDecimal(rate)}%${on}`, value: sum(vat) }
  })
}

function factsOf(
  { deadline: rule }: DocumentKind,
  { deadline, originalInvoice }: DocumentRequest,
  { issueDate, currency }: DocumentTerms,
): readonly LabelledText[] {
  return [
    ...(originalInvoice === null ? [] : [{ label: 'Original invoice', value: originalInvoice }]),
    { label: 'Issue date', value: dayText(issueDate) },
    ...(rule === null || deadline === null ? [] : [{ label: rule.label, value: dayText(deadline) }]),
    { label: 'Currency', value: currency },
  ]
}

function sellerOf({ asksForMoney }: DocumentKind, seller: Seller): SheetParty {
  const { name, address, vatId, email, phone, iban, bic } = seller
  // Bank details have a place of their own where there are any.
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

function ruleOf(
  { notice }: DocumentKind,
  { currency, digits }: DocumentTerms,
  { discount }: DocumentRequest,
  { rates }: Totals,
): string {
  const unit: Decimal = { units: 1n, scale: digits }
  const shared = discount === null ? '' : ' after its share of the discount'
  const vat = rates.length > 1 ? `once for each rate, on the sum of its lines${shared}` : 'once, on the net total'
  const rule = `Each line is rounded to the nearest ${currency} ${printedDecimal(unit)}, halves away from zero; VAT is worked out ${vat}.`
  return notice === null ? rule : `${notice} ${rule}`
}

function linesOf(text: string | null): readonly string[] {
  return text === null
    ? []
    : text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
}

/** 2026-11-05 as 5 Nov 2026, which no reader takes for another day. */
function dayText(day: string): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  return `${date} ${MONTHS[month - 1]} ${year}`
}

function spacedIban(iban: string): string {
  return iban.replace(/(.{4})(?=.)/g, '$1 ')
}
