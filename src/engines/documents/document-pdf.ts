/// <reference path="./pdfkit.d.mts" />
import { createHash } from 'node:crypto'
import { PDFDocument } from 'pdfkit'
import type { DocumentFile, DocumentJob, DocumentSheet } from '../../../marketplace/ports/document-tasks.ts'
import { DOCUMENT_BYTES_MAX } from '../../../marketplace/ports/documents.ts'
import { EngineRefusal } from '../refusal.ts'
import { Canvas } from './canvas.ts'
import { facesWith } from './faces.ts'
import { GRID, STYLE } from './grid.ts'
import { drawClose } from './sheet-close.ts'
import { drawHead } from './sheet-head.ts'
import { SheetTable } from './sheet-table.ts'
import { TypeSetter } from './type-setter.ts'

/** pdfkit does not escape the title in the XMP metadata. */
class TitledDocument extends PDFDocument {
  override endMetadata(): void {
    const { info } = this
    this.info = Object.fromEntries(Object.entries(info).map(([name, value]) => [name, asXml(value)]))
    super.endMetadata()
    this.info = info
  }
}

function asXml(value: unknown): unknown {
  return typeof value === 'string'
    ? value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    : value
}

/** Engine `document/pdf`. Throws a refusal if the document takes too many pages or bytes. */
export async function setDocument({ sheet, fonts }: DocumentJob): Promise<DocumentFile> {
  const doc = openDocument(sheet)
  const bytes = collect(doc)
  const canvas = new Canvas(doc, new TypeSetter(doc, facesWith(fonts)), (page) => drawRunningHead(page, sheet))
  drawHead(canvas, sheet)
  new SheetTable(canvas, sheet).draw()
  drawClose(canvas, sheet)
  canvas.onEveryPage((page) => drawPageNumber(canvas, page))
  doc.end()
  const file = await bytes
  if (file.length > DOCUMENT_BYTES_MAX)
    throw new EngineRefusal(`the document has ${file.length} bytes, more than ${DOCUMENT_BYTES_MAX}`)
  return { pages: canvas.pages, bytes: file, sha256: createHash('sha256').update(file).digest('hex') }
}

/** The file does not depend on when or where it is made: its id comes from its title and its date. */
function openDocument({ heading, number, seller, issueDate }: DocumentSheet): PDFDocument {
  return new TitledDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    bufferPages: true,
    font: null,
    pdfVersion: '1.7',
    tagged: true,
    lang: 'en',
    displayTitle: true,
    info: {
      Title: `${heading} ${number}`,
      ...(seller === null ? {} : { Author: seller.name }),
      CreationDate: new Date(`${issueDate}T00:00:00Z`),
    },
  })
}

function collect(doc: PDFDocument): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  return new Promise((resolve, reject) => {
    doc.on('data', (chunk: Uint8Array) => chunks.push(chunk))
    doc.on('end', () => resolve(new Uint8Array(Buffer.concat(chunks))))
    doc.on('error', reject)
  })
}

function drawRunningHead(canvas: Canvas, { heading, number }: DocumentSheet): void {
  canvas.decoration('Pagination', () => {
    const [begun = ''] = canvas.type.wrap(number, STYLE.small, GRID.width - GRID.left * 2)
    canvas.type.draw(`${heading} ${begun}`, { x: GRID.left, y: 50 }, STYLE.small)
  })
  canvas.rule(58)
}

function drawPageNumber(canvas: Canvas, page: number): void {
  canvas.type.drawRight(`Page ${page} of ${canvas.pages}`, { x: GRID.right, y: GRID.footer }, STYLE.small)
}
