import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { documentService } from './document-service.ts'
import { DOCUMENT_TERMS, INVOICE } from './kinds.ts'

/** Makes invoices. */
export const invoicePdf = documentService(INVOICE, {
  serviceId: 'node-invoice-pdf' as ServiceId,
  name: 'Invoice PDF',
  description: `An A4 invoice as tagged PDF (base64). Halves are rounded away from zero, in each line and in VAT once for each rate. It takes deliveryDate and prepaid too. ${DOCUMENT_TERMS}`,
  brief: 'Makes an invoice as A4 PDF, with exact totals and VAT.',
  words: 'bill billing customer document tax create',
  priceUsdMicros: 8_000n,
  example:
    '{"invoiceNumber":"2026-014","buyer":{"name":"Müller GmbH"},"items":[{"description":"Consulting","qty":2.5,"unitPrice":120}],"vatRate":19}',
})
