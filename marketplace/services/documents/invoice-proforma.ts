import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { documentService } from './document-service.ts'
import { DOCUMENT_TERMS, PROFORMA } from './kinds.ts'

/** Makes pro forma invoices. */
export const invoiceProforma = documentService(PROFORMA, {
  serviceId: 'node-invoice-proforma' as ServiceId,
  name: 'Pro forma invoice PDF',
  description: `A pro forma invoice as tagged A4 PDF (base64), with the day until which it is valid. Halves are rounded away from zero, in each line and in VAT once for each rate. ${DOCUMENT_TERMS}`,
  brief: 'Makes a pro forma invoice as A4 PDF, with exact totals and VAT.',
  words: 'bill billing advance document',
  priceUsdMicros: 8_000n,
  example:
    '{"proformaNumber":"PF-2026-007","buyer":{"name":"Müller GmbH"},"items":[{"description":"Consulting","qty":2.5,"unitPrice":120}],"vatRate":19}',
})
