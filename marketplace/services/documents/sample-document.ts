import type { ServiceId } from '../../../consensus/primitives/ids.ts'

/** Figures of a sample with one position: two and a half of something, with VAT of 19 %. */
export interface SampleFigures {
  readonly unitPrice: string
  readonly net: string
  readonly vat: string
  readonly gross: string
}

/** What the samples of all documents share; of the file itself a sample shows the beginning alone. */
export function sampleDocument(service: ServiceId, { unitPrice, net, vat, gross }: SampleFigures) {
  return {
    service: service as string,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: 'document/pdf',
    currency: 'EUR',
    issueDate: '2026-11-20',
    lines: [{ description: 'Consulting', qty: '2.5', unitPrice, net }],
    netTotal: net,
    vatRate: 19,
    vatAmount: vat,
    grossTotal: gross,
    pages: 1,
    pdf: {
      mime: 'application/pdf' as const,
      bytes: 20_480,
      sha256: '4c6f0b1ed4a35b7f9c2d8e6a1057f3b2c4d5e6f708192a3b4c5d6e7f8091a2b3',
      base64: 'JVBERi0xLjcK',
    },
  }
}
