import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DOCUMENT_EXAMPLES } from '../../support/document-requests.ts'
import { type DocumentShop, documentShop, fileOf, type MadeDocument } from '../../support/documents.ts'
import { resultOf } from '../../support/service-results.ts'

const NOW = '2026-11-22T10:00:00.000Z'

/** Lines that each example's extracted text must contain; white space may have any width. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  'node-invoice-pdf': [
    'Invoice',
    'No. 2026-0142',
    'Hafenstraße 12',
    'Zażółć Gęślą Jaźń Sp. z o.o.',
    'Due date 6 Dec 2026',
    'Prüfgerät „Größe M“, wall mount included 3 249.90 749.70',
    'Αθήνα: μεταφορά και εγκατάσταση 1 180.00 180.00',
    'Доставка и настройка оборудования, Київ 2 75.255 150.51',
    'Storage, price of € 0.0215 a gigabyte and month 1,840 0.0215 39.56',
    'VAT 19% 441.71',
    'Total due EUR 2,766.48',
    'IBAN DE89 3704 0044 0532 0130 00',
    'Page 1 of 1',
  ],
  'node-invoice-proforma': [
    'Pro forma invoice',
    'Sakura Trading',
    'Valid until 31 Dec 2026',
    'Pro forma total JPY 183,590',
    'A pro forma invoice is not a VAT invoice.',
  ],
  'node-receipt-payment': [
    'Payment receipt',
    'Åsa Öberg',
    'Method Card ending in 4242',
    'Reference ch_3PqZ8Y2eZvKYlo2C',
    'Paid on 20 Nov 2026',
    'Total paid SEK 150.00',
  ],
  'node-credit-note': [
    'Credit note',
    'Original invoice 2026-0142',
    'Returned: wall mount 2 24.7505 49.501',
    'Restocking fee 1 \u22125.000 \u22125.000',
    'Total credited KWD 46.726',
  ],
  'node-quote-estimate': ['Quote', 'Valid until 15 Jan 2027', 'Quoted total EUR 27,235.14', 'Page 2 of 2'],
}

let folder: string
let shop: DocumentShop
const made = new Map<string, MadeDocument>()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'documents-'))
  shop = await documentShop()
  for (const [id, request] of Object.entries(DOCUMENT_EXAMPLES)) {
    const result = await resultOf<MadeDocument>(id, JSON.stringify(request), shop.contextAt(NOW))
    writeFileSync(join(folder, `${id}.pdf`), fileOf(result))
    made.set(id, result)
  }
})

afterAll(async () => {
  await shop.close()
  rmSync(folder, { recursive: true })
})

function poppler(program: string, ...parameters: readonly string[]): string {
  return execFileSync(program, [...parameters], { encoding: 'utf8', cwd: folder })
}

for (const id of Object.keys(DOCUMENT_EXAMPLES))
  describe(`${id} in poppler`, () => {
    const file = `${id}.pdf`

    it('reads as it was written', () => {
      const read = poppler('pdftotext', '-layout', file, '-').replace(/[ \t]+/g, ' ')
      for (const line of SAID[id] as readonly string[]) expect(read).toContain(line)
    })

    it('is tagged, A4, with a title', () => {
      const info = poppler('pdfinfo', file)
      expect(info).toMatch(/Tagged:\s+yes/)
      expect(info).toMatch(/Page size:\s+595\.28 x 841\.89 pts \(A4\)/)
      expect(info).toMatch(new RegExp(`Pages:\\s+${made.get(id)?.pages}\n`))
      expect(info).toMatch(/Title:\s+\S+/)
      expect(info).toMatch(/CreationDate:\s+Sun Nov 22/)
    })

    it('has a tree of headings and tables that reads in order', () => {
      const tree = poppler('pdfinfo', '-struct-text', file).replace(/\s+/g, ' ')
      const parts = ['Document', 'H1 (block)', 'Table (block)', '/Scope /Column "Description"', 'TD "']
      const places = parts.map((part) => tree.indexOf(part))
      expect(places).toEqual([...places].sort((a, b) => a - b))
      expect(places).not.toContain(-1)
    })

    it('has all fonts inside, with what their letters mean', () => {
      const fonts = poppler('pdffonts', file).trim().split('\n').slice(2)
      expect(fonts.length).toBeGreaterThan(1)
      for (const font of fonts) expect(font).toMatch(/ yes yes yes +\d+ +\d+$/)
    })

    it('has ink where there is text, and none beyond the margins', () => {
      poppler('pdftoppm', '-r', '50', '-gray', file, id)
      const pages = made.get(id)?.pages ?? 0
      for (let page = 1; page <= pages; page++) {
        const { width, height, dark } = readGray(readFileSync(join(folder, `${id}-${page}.pgm`)))
        expect([width, height]).toEqual([414, 585])
        expect(dark(0.09, 0.91, 0.05, 0.97)).toBeGreaterThan(500)
        expect(dark(0, 0.07, 0.05, 1) + dark(0.93, 1, 0.05, 1) + dark(0, 1, 0.97, 1)).toBe(0)
      }
    })
  })

/** Reads an 8-bit PGM image (https://netpbm.sourceforge.net/doc/pgm.html) to measure how dark parts of it are. */
function readGray(pgm: Buffer) {
  const [head = '', w, h] = /^P5\n(\d+) (\d+)\n255\n/.exec(pgm.toString('latin1', 0, 32)) ?? []
  const [width, height] = [Number(w), Number(h)]
  const points = pgm.subarray(head.length)
  /** Number of dark points in a rectangle given in shares of width and height. */
  const dark = (left: number, right: number, top: number, bottom: number): number => {
    let count = 0
    for (let y = Math.floor(top * height); y < bottom * height; y++)
      for (let x = Math.floor(left * width); x < right * width; x++)
        if ((points[y * width + x] as number) < 200) count += 1
    return count
  }
  return { width, height, dark }
}
