import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { documentService } from './document-service.ts'
import { DOCUMENT_TERMS, QUOTE } from './kinds.ts'

/** Makes quotes. */
export const quoteEstimate = documentService(QUOTE, {
  serviceId: 'node-quote-estimate' as ServiceId,
  name: 'Quote PDF',
  description: `A quote as tagged A4 PDF (base64), with the day until which it is valid. Halves are rounded away from zero, in each line and in VAT once for each rate. ${DOCUMENT_TERMS}`,
  brief: 'Makes a quote as A4 PDF, with the day until which it is valid, exact totals and VAT.',
  words: 'offer estimate proposal customer document',
  priceUsdMicros: 6_000n,
  example:
    '{"quoteNumber":"Q-2026-019","buyer":{"name":"Müller GmbH"},"items":[{"description":"Consulting","qty":2.5,"unitPrice":120}],"vatRate":19,"validUntil":"2099-12-31"}',
})
