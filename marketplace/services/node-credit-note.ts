import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { documentService } from './documents/document-service.ts'
import { CREDIT_NOTE } from './documents/kinds.ts'
import { sampleDocument } from './documents/sample-document.ts'

const ID = 'node-credit-note' as ServiceId

/** Makes credit notes. */
export const creditNote = documentService(CREDIT_NOTE, {
  serviceId: ID,
  name: 'Credit note PDF',
  description:
    'A credit note as tagged A4 PDF (base64) that names the invoice it corrects. Unit prices may be negative; halves are rounded away from zero, so that it mirrors its invoice. vatRate is in percent, dates are YYYY-MM-DD, currency is an ISO 4217 code. Without issueDate it is dated today.',
  brief: 'Makes a credit note as A4 PDF, with totals that mirror the invoice it corrects.',
  words: 'refund billing bookkeeping correction document',
  priceUsdMicros: 8_000n,
  requestFormat:
    'JSON text: {creditNoteNumber, buyer: {name, address?}, items: [{description, qty, unitPrice}], vatRate, originalInvoice, currency?, issueDate?, notes?, seller?: {name, address?, vatId?, email?, iban?}}',
  example:
    '{"creditNoteNumber":"CN-2026-003","buyer":{"name":"Müller GmbH"},"items":[{"description":"Consulting","qty":2.5,"unitPrice":-120}],"vatRate":19,"originalInvoice":"2026-014"}',
  sample: {
    ...sampleDocument(ID, { unitPrice: '-120.00', net: '-300.00', vat: '-57.00', gross: '-357.00' }),
    type: 'credit-note',
    number: 'CN-2026-003',
  },
})
