import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { documentService } from './document-service.ts'
import { CREDIT_NOTE, DOCUMENT_TERMS } from './kinds.ts'

/** Makes credit notes. */
export const creditNote = documentService(CREDIT_NOTE, {
  serviceId: 'node-credit-note' as ServiceId,
  name: 'Credit note PDF',
  description: `A credit note as tagged A4 PDF (base64) that names the invoice it corrects. Amounts are what is credited; a price below 0 lessens it. If below 0 with VAT, every sign is turned. ${DOCUMENT_TERMS}`,
  brief: 'Makes a credit note as A4 PDF, with totals that mirror the invoice it corrects.',
  words: 'refund billing bookkeeping correction document',
  priceUsdMicros: 8_000n,
  example:
    '{"creditNoteNumber":"CN-2026-003","buyer":{"name":"Müller GmbH"},"items":[{"description":"Consulting","qty":2.5,"unitPrice":120}],"vatRate":19,"originalInvoice":"2026-014"}',
})
