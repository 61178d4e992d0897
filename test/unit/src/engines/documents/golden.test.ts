import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DOCUMENT_EXAMPLES, GROSS_RECEIPT } from '../../../../support/document-requests.ts'
import { type DocumentShop, documentShop, type MadeDocument } from '../../../../support/documents.ts'
import { resultOf } from '../../../../support/service-results.ts'

/**
 * SHA-256 of each example as the pinned Node makes it. Streams in a file are deflated by the zlib of Node, which may choose
 * otherwise on another processor: there the files are other bytes with the same content.
 */
const GOLDEN: Readonly<Record<string, string>> = {
  'node-invoice-pdf': '5d717c5daaed6428dee9d8a1ead6a6ed58f341f891abc3d25a11b6f845ff32a0',
  'node-invoice-proforma': '667cb252fc75ec46b9a080c3130cb9917effe9cdc9122296f8d74491fc728828',
  'node-receipt-payment': 'e7cb912bf36f6cf458e5b9d73ab6e7c4fafcf52354f2e0d3a4032ff171004a38',
  'node-credit-note': '5269395502260f5bfd4e64e8962ce718c154057dcb6560fc216f953b2bede975',
  'node-quote-estimate': 'f90869aa1fabd8d7ef418982f9a3eb49b40f203273821da75560482a07ef1863',
}

const GOLDEN_GROSS = 'ee037d787eab2b6818918ec93f845e484d5cc9eec02556d079d6dd71b0499eb3'

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

  it('with prices that include VAT is the same bytes as ever', async () => {
    const context = shop.contextAt('2026-11-22T10:00:00.000Z')
    const { pdf } = await resultOf<MadeDocument>('node-receipt-payment', JSON.stringify(GROSS_RECEIPT), context)
    expect(pdf.sha256).toBe(GOLDEN_GROSS)
  })
})
