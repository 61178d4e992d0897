import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { documentService } from './document-service.ts'
import { DOCUMENT_TERMS, RECEIPT } from './kinds.ts'

/** Makes receipts of payments. */
export const receiptPayment = documentService(RECEIPT, {
  serviceId: 'node-receipt-payment' as ServiceId,
  name: 'Payment receipt PDF',
  description: `A payment receipt as tagged A4 PDF (base64): what was paid, how and when. It takes deliveryDate too, buyer vatId, seller phone and bic. ${DOCUMENT_TERMS}`,
  brief: 'Makes a payment receipt as A4 PDF: what was paid, how and when, with VAT.',
  words: 'proof paid document customer',
  priceUsdMicros: 6_000n,
  example:
    '{"receiptNumber":"R-2026-031","buyer":{"name":"Müller GmbH"},"items":[{"description":"Consulting","qty":2.5,"unitPrice":120}],"vatRate":19,"payment":{"method":"Card","paidOn":"2026-01-15"}}',
})
