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
  readonly allowsNegativePrices: boolean
  /** Whether it asks for money, so that the account of the seller gets a place of its own. */
  readonly asksForMoney: boolean
  readonly grossLabel: string
  readonly notice: string | null
}

const PLAIN = {
  buyerLabel: 'Bill to',
  deadline: null,
  hasPayment: false,
  hasOriginalInvoice: false,
  allowsNegativePrices: false,
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
  allowsNegativePrices: true,
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
