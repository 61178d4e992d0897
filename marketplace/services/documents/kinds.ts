import { BUILT_IN_SCRIPTS_SAID } from './scripts.ts'

/** The differences between the five documents. */
export interface DocumentKind {
  readonly type: 'invoice' | 'proforma' | 'receipt' | 'credit-note' | 'quote'
  readonly heading: string
  /** Request field that holds the document's number. */
  readonly numberField: string
  readonly buyerLabel: string
  readonly deadline: {
    readonly field: 'dueDate' | 'validUntil'
    readonly label: string
    readonly required: boolean
  } | null
  readonly hasPayment: boolean
  readonly hasOriginalInvoice: boolean
  /** Whether it may state a delivery date, as VAT law requires of invoices. */
  readonly hasDeliveryDate: boolean
  readonly hasPrepaid: boolean
  /** Whether it credits money: prices may then be below 0. */
  readonly credits: boolean
  /** Whether it asks for payment; the seller's bank details then get a block of their own. */
  readonly asksForMoney: boolean
  readonly grossLabel: string
  readonly notice: string | null
}

/** Terms of every kind, for the service descriptions. */
export const DOCUMENT_TERMS = `unitPrice is before VAT unless pricesIncludeVat is true. vatRate is in percent, vatPercent that of one item, discount off the sum. Up to 200 items. Dates are YYYY-MM-DD, without issueDate today; currency is ISO 4217. Labels are English. ${BUILT_IN_SCRIPTS_SAID}`

/** Fields with ? are optional. The registry's limit leaves no room for all; the descriptions name the others. */
export function requestFormatOf({ numberField, deadline, hasPayment, hasOriginalInvoice }: DocumentKind): string {
  const fields = [
    numberField,
    `buyer:{name,address?${hasPayment ? '' : ',vatId?'}}`,
    'items:[{description,qty,unitPrice,vatPercent?}]',
    'vatRate',
    ...(deadline === null ? [] : [`${deadline.field}${deadline.required ? '' : '?'}`]),
    ...(hasPayment ? ['payment:{method,reference?,paidOn}'] : []),
    ...(hasOriginalInvoice ? ['originalInvoice'] : []),
    'discount?:{percent|amount}',
    'currency?',
    'issueDate?',
    'notes?',
    `seller?:{name,address?,vatId?,email?${hasPayment ? ',iban?' : ',phone?,iban?,bic?'}}`,
  ]
  return `JSON text:{${fields.join(',')}}`
}

const PLAIN = {
  buyerLabel: 'Bill to',
  deadline: null,
  hasPayment: false,
  hasOriginalInvoice: false,
  hasDeliveryDate: false,
  hasPrepaid: false,
  credits: false,
  asksForMoney: false,
  notice: null,
} as const

/** An invoice. */
export const INVOICE: DocumentKind = {
  ...PLAIN,
  type: 'invoice',
  heading: 'Invoice',
  numberField: 'invoiceNumber',
  deadline: { field: 'dueDate', label: 'Due date', required: false },
  hasDeliveryDate: true,
  hasPrepaid: true,
  asksForMoney: true,
  grossLabel: 'Total due',
}

/** An invoice in advance; it is not a VAT invoice. */
export const PROFORMA: DocumentKind = {
  ...PLAIN,
  type: 'proforma',
  heading: 'Pro forma invoice',
  numberField: 'proformaNumber',
  deadline: { field: 'validUntil', label: 'Valid until', required: false },
  asksForMoney: true,
  grossLabel: 'Pro forma total',
  notice: 'A pro forma invoice is not a VAT invoice.',
}

/** Confirms a payment. */
export const RECEIPT: DocumentKind = {
  ...PLAIN,
  type: 'receipt',
  heading: 'Payment receipt',
  numberField: 'receiptNumber',
  buyerLabel: 'Received from',
  hasPayment: true,
  hasDeliveryDate: true,
  grossLabel: 'Total paid',
}

/** Takes back an invoice or a part of it. */
export const CREDIT_NOTE: DocumentKind = {
  ...PLAIN,
  type: 'credit-note',
  heading: 'Credit note',
  numberField: 'creditNoteNumber',
  buyerLabel: 'Credit to',
  hasOriginalInvoice: true,
  credits: true,
  grossLabel: 'Total credited',
}

/** An offer at a price. */
export const QUOTE: DocumentKind = {
  ...PLAIN,
  type: 'quote',
  heading: 'Quote',
  numberField: 'quoteNumber',
  buyerLabel: 'Prepared for',
  deadline: { field: 'validUntil', label: 'Valid until', required: true },
  grossLabel: 'Quoted total',
}
