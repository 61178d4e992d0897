import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkRequest } from '../../../marketplace/services/service.ts'
import { runService } from '../../../marketplace/till/workshop.ts'
import { openDocuments } from '../../../src/engines/documents/document-desk.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'
import { DOCUMENT_EXAMPLES } from '../../support/document-requests.ts'
import { type DocumentShop, documentShop, fileOf, type MadeDocument } from '../../support/documents.ts'
import { DOCUMENT_SERVICES } from '../../support/listed-services.ts'
import { readPdf } from '../../support/pdf-reader.ts'
import { ask, resultOf, serviceNamed } from '../../support/service-results.ts'

const NOW = '2026-11-22T10:00:00.000Z'
const INVOICE = {
  invoiceNumber: '1',
  buyer: { name: 'A' },
  items: [{ description: 'x', qty: 1, unitPrice: 1 }],
  vatRate: 0,
}
const fontFile = (name: string): string => createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)

let shop: DocumentShop

beforeAll(async () => {
  shop = await documentShop()
})

afterAll(() => shop.close())

function make(changes: object, serviceId = 'node-invoice-pdf', iso = NOW): Promise<MadeDocument> {
  return resultOf(serviceId, JSON.stringify({ ...INVOICE, ...changes }), shop.contextAt(iso))
}

async function refusalOf(changes: object, iso = NOW): Promise<unknown> {
  const answer = await ask('node-invoice-pdf', JSON.stringify({ ...INVOICE, ...changes }), shop.contextAt(iso))
  return 'refused' in answer ? answer.refused : answer
}

describe('documents', () => {
  for (const [serviceId, request] of Object.entries(DOCUMENT_EXAMPLES)) {
    it(`${serviceId} is a tagged A4 file with its fonts, the same bytes each time`, async () => {
      const first = await resultOf<MadeDocument>(serviceId, JSON.stringify(request), shop.contextAt(NOW))
      const again = await resultOf<MadeDocument>(
        serviceId,
        JSON.stringify(request),
        shop.contextAt('2026-12-01T00:00:00Z'),
      )
      expect(again.asOf).not.toBe(first.asOf)
      expect(again.pdf).toEqual(first.pdf)
      const bytes = fileOf(first)
      expect(bytes.length).toBe(first.pdf.bytes)
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(first.pdf.sha256)
      const facts = readPdf(bytes)
      expect(facts.pages).toEqual(Array(first.pages).fill([595.28, 841.89]))
      expect(facts.fonts.length).toBeGreaterThan(1)
      expect(facts.embedded).toBe(facts.fonts.length)
      expect(facts).toMatchObject({ lang: 'en', isMarkedTagged: true })
      const rows = (request.items as readonly unknown[]).length
      expect(facts.tags).toMatchObject({ Document: 1, H1: 1, Table: 2, TR: rows + 4, TH: 7, TD: 4 * rows + 3 })
    })
  }

  for (const { serviceId, sample } of DOCUMENT_SERVICES)
    it(`${serviceId} shows a whole file as its free sample`, () => {
      const { pdf, pages } = sample as MadeDocument
      const bytes = fileOf(sample as MadeDocument)
      expect(bytes.length).toBe(pdf.bytes)
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(pdf.sha256)
      const facts = readPdf(bytes)
      expect(facts.pages).toEqual(Array(pages).fill([595.28, 841.89]))
      expect(facts.tags).toMatchObject({ Document: 1, H1: 1, Table: 2 })
      expect(pdf.base64.length).toBeLessThanOrEqual(25_000)
    })

  it('are the same bytes from another thread, whatever it made before', async () => {
    const [id, request] = Object.entries(DOCUMENT_EXAMPLES)[0] as [string, object]
    const other = await documentShop()
    try {
      const items = [
        { description: 'no\u00a0break, \u2126 and \u03a9, \u212a and K, -> --> 1x2', qty: 1, unitPrice: 1 },
      ]
      const context = other.contextAt(NOW)
      await resultOf('node-invoice-pdf', JSON.stringify({ ...INVOICE, items }), context)
      const made = await resultOf<MadeDocument>(id, JSON.stringify(request), context)
      expect(made.pdf).toEqual((await resultOf<MadeDocument>(id, JSON.stringify(request), shop.contextAt(NOW))).pdf)
    } finally {
      await other.close()
    }
  })

  it('have today’s date and the currency of the settings by default', async () => {
    const other = await documentShop({ currency: 'JPY' })
    try {
      const made = await resultOf<MadeDocument>('node-invoice-pdf', JSON.stringify(INVOICE), other.contextAt(NOW))
      expect(made).toMatchObject({ issueDate: '2026-11-22', currency: 'JPY', netTotal: '1', grossTotal: '1' })
    } finally {
      await other.close()
    }
    const [today, tomorrow] = [await make({}), await make({}, 'node-invoice-pdf', '2026-11-23T00:00:00Z')]
    expect([today.issueDate, tomorrow.issueDate]).toEqual(['2026-11-22', '2026-11-23'])
    expect(today.pdf.sha256).not.toBe(tomorrow.pdf.sha256)
  })

  it('name the day until which they are valid, and are refused after it', async () => {
    expect(await make({ dueDate: '2026-11-22' })).toMatchObject({ dueOrValidUntil: '2026-11-22' })
    expect(await make({})).not.toHaveProperty('dueOrValidUntil')
    expect(await refusalOf({ dueDate: '2026-11-21' })).toBe(
      'dueDate is before the day of issue; it takes 2026-11-22 or a later day',
    )
  })

  it('have a title that is text, not markup', async () => {
    const { xmp, info } = readPdf(fileOf(await make({ invoiceNumber: 'A<b>&"1' })))
    expect(xmp).toContain('<rdf:li xml:lang="x-default">Invoice A&lt;b&gt;&amp;"1</rdf:li>')
    expect(info).toContain('Invoice A<b>&"1')
  })

  it('never name the node as the seller', async () => {
    const { tags } = readPdf(fileOf(await make({})))
    const { tags: withSeller } = readPdf(fileOf(await make({ seller: { name: 'S' } })))
    expect([tags.Sect, withSeller.Sect]).toEqual([1, 2])
  })
})

describe('letters of documents', () => {
  const STRANGE: readonly (readonly [string, string, string])[] = [
    ['Han, without a font for it', '漢字 and 漢', '"漢" (U+6F22), "字" (U+5B57);'],
    ['Arabic, though a font has it', 'سلام', '"س" (U+0633), "ل" (U+0644), "ا" (U+0627), "م" (U+0645);'],
    ['Arabic digits', '٣', '"٣" (U+0663);'],
    ['Hebrew, though a font has it', 'שלום', '"ש" (U+05E9)'],
    ['Devanagari', 'नम', '"न" (U+0928), "म" (U+092E);'],
    ['a mark on a letter of another font', '\ua69f\u0302', '"\ua69f\u0302" (U+A69F);'],
    ['pictures', '🥨', '"🥨" (U+1F968);'],
  ]
  for (const [what, text, shown] of STRANGE)
    it(`are refused before the quote: ${what}`, async () => {
      const refused = await refusalOf({ notes: text })
      expect(refused).toContain(`these characters cannot be set: ${shown}`)
      expect(await refusalOf({ items: [{ description: text, qty: 1, unitPrice: 1 }] })).toBe(refused)
    })

  it('that were not checked while the chain was moving fail, and are refunded', async () => {
    const definition = serviceNamed('node-invoice-pdf')
    const context = { ...shop.contextAt(NOW), chain: { moving: true } as never }
    const input = checkRequest(definition, JSON.stringify({ ...INVOICE, notes: '漢' }), context)
    expect(input.ok).toBe(true)
    const result = await runService(definition, input.ok && input.value, context)
    expect(result).toMatchObject({ ok: false, fault: { code: 'service/failed' } })
    expect(result.ok ? '' : result.fault.detail.reason).toContain('these characters cannot be set: "漢" (U+6F22)')
  })

  it('that are refused are named, up to a bound', async () => {
    const notes = Array.from({ length: 100 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')
    expect(await refusalOf({ notes })).toContain(
      'and 80 more; this node prints Latin, Greek, Cyrillic, Armenian, Georgian; a font that its operator names in documents.fonts adds others',
    )
  })

  it('of many scripts and with combining marks are printed', async () => {
    const notes = 'Łódź € Straße Ωμέγα Москва Việt x\u0302 Հայերեն ქართული ☺ ₴₽₹₩ ½ ﬁ „“'
    expect(await make({ notes })).toMatchObject({ pages: 1 })
  })

  it('come from a font of the operator if the others lack them', async () => {
    const other = await documentShop({ fonts: [fontFile('DejaVuSansMono')] })
    const request = JSON.stringify({ ...INVOICE, notes: 'APL: \u2336' })
    try {
      const made = await resultOf<MadeDocument>('node-invoice-pdf', request, other.contextAt(NOW))
      expect(readPdf(fileOf(made)).fonts.join()).toContain('DejaVuSansMono')
    } finally {
      await other.close()
    }
    expect(await refusalOf({ notes: 'APL: \u2336' })).toContain('"\u2336" (U+2336)')
  })

  it('from a missing or invalid font file are a fault of the settings', async () => {
    const engines = new EnginePool(1)
    try {
      for (const path of [import.meta.filename, '/nowhere/font.ttf'])
        expect(await openDocuments({ engines, currency: 'EUR', fonts: [path] })).toMatchObject({
          ok: false,
          fault: { code: 'config/file', detail: { path } },
        })
      expect(await openDocuments({ engines, currency: 'ABC', fonts: [] })).toMatchObject({
        ok: false,
        fault: { code: 'config/value', detail: { key: 'documents.currency', value: 'ABC' } },
      })
    } finally {
      await engines.close()
    }
  })
})

describe('hostile documents', () => {
  const word = (length: number): string => 'W'.repeat(length)
  const items = (count: number, description: string): { readonly items: readonly object[] } => ({
    items: Array.from({ length: count }, () => ({ description, qty: 1, unitPrice: 1 })),
  })

  it('with endless words are broken over pages', async () => {
    expect((await make(items(18, word(500)))).pages).toBeGreaterThan(5)
  })

  // Each of these requests is about as long as allowed.
  const wide = { description: 'x', qty: '888888888.8888', unitPrice: '888888.888888', vatPercent: '99.999' }
  const LONGEST: readonly (readonly [string, object])[] = [
    ['long texts in all items', items(200, 'Oak shelf, oiled, '.repeat(15).trim())],
    ['one word to a line', { items: [wide, ...items(110, 'WWWWW '.repeat(83).trim()).items], currency: 'KWD' }],
    ['every letter from another font', items(80, 'a\u0416'.repeat(250))],
    [
      'as many sums as there can be',
      {
        ...{ discount: { percent: 1 }, prepaid: 1, pricesIncludeVat: true },
        items: items(30, 'x').items.map((one, i) => ({ ...one, vatPercent: i })),
      },
    ],
    ['a rate for every page of sums', { items: items(30, 'x').items.map((one, i) => ({ ...one, vatPercent: i })) }],
  ]
  it.each(LONGEST)('that are as long as requests can be are delivered: %s', async (_what, changes) => {
    expect((await make(changes)).pages).toBeGreaterThan(0)
  })

  const vatId = `${'W'.repeat(30)}11`
  const email = `${'w'.repeat(64)}@${'W'.repeat(185)}.com`

  it('with one letter to a line, and as many lines as are allowed, end', async () => {
    const lines = (count: number): string => Array(count).fill('i').join('\n')
    const party = { name: word(200), address: lines(10) }
    const made = await make({
      invoiceNumber: word(64),
      buyer: party,
      seller: { ...party, vatId, email, iban: 'DE89370400440532013000' },
      notes: lines(60),
    })
    expect(made.pages).toBe(4)
  })

  it('whose parties take a page each, end', async () => {
    const party = { name: word(200), address: word(500) }
    const made = await make({ buyer: party, seller: { ...party, vatId, email } })
    expect(made.pages).toBe(2)
  })

  it('whose parties take more than a page each go on over pages', async () => {
    const party = { name: '\u2031'.repeat(200), address: '\u2031'.repeat(500), vatId }
    const made = await make({ buyer: party, seller: { ...party, email, phone: word(32), bic: 'COBADEFF' } })
    expect(made.pages).toBe(4)
    expect(readPdf(fileOf(made)).tags).toMatchObject({ Document: 1, H1: 1, Sect: 2 })
  })

  it('with every letter from another font are made in time', async () => {
    const mixed = 'aЖΩłệ☺'.repeat(50)
    expect((await make(items(100, mixed.slice(0, 120)))).pages).toBeGreaterThan(3)
  })

  it('with the largest figures are made', async () => {
    const largest = { description: word(500), qty: '999999.9999', unitPrice: '999999999.999999' }
    const made = await make({ items: [largest], vatRate: '99.999', currency: 'KWD' })
    expect(made.netTotal).toBe('999999999899999.000')
    expect(made.pages).toBe(1)
  })
})
