import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DocumentShop, documentShop, fileOf, type MadeDocument } from '../../../../support/documents.ts'
import { readElementTexts } from '../../../../support/pdf-texts.ts'
import { resultOf } from '../../../../support/service-results.ts'

let shop: DocumentShop
beforeAll(async () => {
  shop = await documentShop()
})
afterAll(() => shop.close())

async function elementsOf(changes: object): Promise<readonly string[]> {
  const request = {
    invoiceNumber: '1',
    buyer: { name: 'Teehaus', address: 'Hauptstr. 1\n10115 Berlin' },
    items: [{ description: 'x', qty: 1, unitPrice: 1 }],
    vatRate: 19,
    ...changes,
  }
  const context = shop.contextAt('2026-11-22T10:00:00.000Z')
  return readElementTexts(fileOf(await resultOf<MadeDocument>('node-invoice-pdf', JSON.stringify(request), context)))
}

describe('a tagged document that is read out', () => {
  it('has the lines of an address apart', async () => {
    const address = 'Bäckerstraße 12\n80331 München\nDeutschland'
    const said = await elementsOf({ seller: { name: 'Töpferei Grünwald', address, vatId: 'DE136695976' } })
    expect(said).toContain('Bäckerstraße 12 80331 München Deutschland VAT ID DE136695976')
    expect(said).toContain('Hauptstr. 1 10115 Berlin')
  })

  it('has a space where a line was broken at one, and none within a word', async () => {
    for (const description of [
      'Teekanne, salzglasiert, mit Deckel, Sieb und Untersetzer, in der Farbe Kobaltblau mit Ritzdekor, von Hand',
      'Donaudampfschifffahrtsgesellschaftskapitänsmützenhalterungsschraubenschlüsseletuiverkäufer-'.repeat(3),
      'Чайник с крышкой, глазурь кобальтовая, ручная работа, вместимость полтора литра, с ситом, „Größe M“',
    ])
      expect(await elementsOf({ items: [{ description, qty: 1, unitPrice: 1 }] })).toContain(description)
  })

  it('has labels and their values apart, and the lines of notes', async () => {
    const said = await elementsOf({ dueDate: '2026-12-12', notes: 'Vielen Dank.\n\nBis bald.' })
    expect(said).toContain('Due date 12 Dec 2026')
    expect(said).toContain('Vielen Dank. Bis bald.')
  })
})
