import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { documentService } from './documents/document-service.ts'
import { DOCUMENT_TERMS, QUOTE } from './documents/kinds.ts'
import { sampleDocument } from './documents/sample-document.ts'

const ID = 'node-quote-estimate' as ServiceId

/** Makes quotes. */
export const quoteEstimate = documentService(QUOTE, {
  serviceId: ID,
  name: 'Quote PDF',
  description: `A quote as tagged A4 PDF (base64), with the day until which it is valid. Halves are rounded away from zero, in each line and in VAT once for each rate. ${DOCUMENT_TERMS}`,
  brief: 'Makes a quote as A4 PDF, with the day until which it is valid, exact totals and VAT.',
  words: 'offer estimate proposal customer document',
  priceUsdMicros: 6_000n,
  example:
    '{"quoteNumber":"Q-2026-019","buyer":{"name":"Müller GmbH"},"items":[{"description":"Consulting","qty":2.5,"unitPrice":120}],"vatRate":19,"validUntil":"2099-12-31"}',
  sample: {
    ...sampleDocument(ID, { unitPrice: '120.00', net: '300.00', vat: '57.00', gross: '357.00' }),
    type: 'quote',
    number: 'Q-2026-019',
    dueOrValidUntil: '2099-12-31',
  },
})
