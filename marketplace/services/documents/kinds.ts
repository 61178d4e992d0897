import { BUILT_IN_SCRIPTS_SAID } from './scripts.ts'

/** What tells the five documents apart. */
export interface DocumentKind {
  readonly type: 'invoice' | 'proforma' | 'receipt' | 'credit-note' | 'quote'
  readonly heading: string
  /** Field of the request with the number of the document. */
  readonly numberField: string
  readonly buyerLabel: string
  /** The day until which something is to be done, where the document has one. */
  readonly deadline: {
    readonly field: 'dueDate' | 'validUntil'
    readonly label: string
    readonly required: boolean
  } | null
  readonly hasPayment: boolean
  readonly hasOriginalInvoice: boolean
  /** Whether it may name the day of delivery, as the law of VAT wants it of bills. */
  readonly hasDeliveryDate: boolean
  /** Whether a part of what it asks for may have been paid before. */
  readonly hasPrepaid: boolean
  /** Whether it gives money back: prices may then be below 0. */
  readonly credits: boolean
  /** Whether it asks for money, so that the account of the seller gets a place of its own. */
  readonly asksForMoney: boolean
  readonly grossLabel: string
  readonly notice: string | null
}

/** What holds for every kind, for its description. */
export const DOCUMENT_TERMS = `unitPrice is before VAT unless pricesIncludeVat is true. vatRate is in percent, vatPercent that of one item, discount off the sum. Up to 200 items. Dates are YYYY-MM-DD, without issueDate today; currency is ISO 4217. Labels are English. ${BUILT_IN_SCRIPTS_SAID}`

/** How the request of a kind is written: its fields, those with ? may be left out. It has no room for all: descriptions name the rest. */
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

/** What an invoice would be. */
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

/** That something was paid. */
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

/** What is taken back of an invoice. */
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

/** What something would cost. */
export const QUOTE: DocumentKind = {
  ...PLAIN,
  type: 'quote',
  heading: 'Quote',
  numberField: 'quoteNumber',
  buyerLabel: 'Prepared for',
  deadline: { field: 'validUntil', label: 'Valid until', required: true },
  grossLabel: 'Quoted total',
}
