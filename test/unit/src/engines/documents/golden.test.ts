import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DOCUMENT_EXAMPLES, GROSS_RECEIPT } from '../../../../support/document-requests.ts'
import { type DocumentShop, documentShop, type MadeDocument } from '../../../../support/documents.ts'
import { DOCUMENT_SERVICES } from '../../../../support/listed-services.ts'
import { resultOf } from '../../../../support/service-results.ts'

/**
 * SHA-256 of each example, made by the pinned Node. Node's zlib compresses the streams in a file, and may choose other
 * bytes for the same content on another processor.
 */
const GOLDEN: Readonly<Record<string, string>> = {
  'node-invoice-pdf': 'f12cf29cf8f66db09632bb18deb86ea114220ed97c01375683ead88590d880d9',
  'node-invoice-proforma': '5750f4b701dc7303d13c6a2b5ea652337b5cb9ed31b49d5399704e353e18d280',
  'node-receipt-payment': '90930b27bdd9b575034b0ceae847765390a16af6ef159fba954e5fb80d77a758',
  'node-credit-note': 'b5d1d84e89783399157f820462bb11d1ec33b9a14bb8bc998ae244457bd585e0',
  'node-quote-estimate': '058c790e78836d6217b33afc4bbf43937ddfceb422b1f3584b39dbaaa54c0c8c',
}

const GOLDEN_GROSS = '4f338be7591313fd7798fcaa401bedf66c16118b8cd374b2371229a76db46f72'

const SAMPLED = DOCUMENT_SERVICES

let shop: DocumentShop
beforeAll(async () => {
  shop = await documentShop()
})
afterAll(() => shop.close())

describe.runIf(process.arch === 'x64')('a document', () => {
  it.each(Object.entries(DOCUMENT_EXAMPLES))('of %s is the same bytes as ever', async (id, request) => {
    const context = shop.contextAt('2026-11-22T10:00:00.000Z')
    const { pdf } = await resultOf<MadeDocument>(id, JSON.stringify(request), context)
    expect(pdf.sha256).toBe(GOLDEN[id])
  })

  it.each(SAMPLED)('of the example of $serviceId is its free sample', async ({ serviceId, example, sample }) => {
    expect(await resultOf(serviceId, example, shop.contextAt('2026-11-20T12:00:00.000Z'))).toEqual(sample)
  })

  it('with prices that include VAT is the same bytes as ever', async () => {
    const context = shop.contextAt('2026-11-22T10:00:00.000Z')
    const { pdf } = await resultOf<MadeDocument>('node-receipt-payment', JSON.stringify(GROSS_RECEIPT), context)
    expect(pdf.sha256).toBe(GOLDEN_GROSS)
  })
})
