import type { PDFDocument, StructureElement } from 'pdfkit'
import { DOCUMENT_PAGES_MAX } from '../../../marketplace/ports/documents.ts'
import { EngineRefusal } from '../refusal.ts'
import { COLOR, GRID, LINE } from './grid.ts'
import type { TextStyle, TypeSetter } from './type-setter.ts'

/** `height` is in points. The part must also fit below a running head. */
export function fitsPage(height: number): boolean {
  return height <= GRID.bottom - GRID.topNext
}

/** The pages of a document, the current position, and the structure tree for screen readers. */
export class Canvas {
  readonly type: TypeSetter
  readonly root: StructureElement
  /** Top of the next part, in points. */
  y = GRID.top
  readonly #doc: PDFDocument
  readonly #onPage: (canvas: Canvas) => void
  #pages = 1

  /** `onPage` draws the head of every page but the first. */
  constructor(doc: PDFDocument, type: TypeSetter, onPage: (canvas: Canvas) => void) {
    this.#doc = doc
    this.type = type
    this.#onPage = onPage
    this.root = doc.struct('Document')
    doc.addPage()
    doc.addStructure(this.root)
  }

  get pages(): number {
    return this.#pages
  }

  /** Points left on this page. */
  get room(): number {
    return GRID.bottom - this.y
  }

  /** Throws a refusal if the document has the most pages allowed. */
  nextPage(): void {
    if (this.#pages === DOCUMENT_PAGES_MAX)
      throw new EngineRefusal(`the document would have more than ${DOCUMENT_PAGES_MAX} pages`)
    this.#pages += 1
    this.#doc.addPage()
    this.y = GRID.topNext
    this.#onPage(this)
  }

  /** Starts a new page if this one has less room. Throws a refusal if the height does not fit on any page. */
  ensure(height: number): void {
    if (!fitsPage(height)) throw new EngineRefusal('a part of the document is higher than a page')
    if (this.room < height) this.nextPage()
  }

  element(type: string, parent: StructureElement = this.root, scope?: 'Row' | 'Column'): StructureElement {
    const element = this.#doc.struct(type, scope === undefined ? {} : { scope })
    parent.add(element)
    return element
  }

  /** The first baseline is at y. */
  lines(
    element: StructureElement,
    lines: readonly string[],
    { x, y, style, step }: { readonly x: number; readonly y: number; readonly style: TextStyle; readonly step: number },
  ): void {
    element.add(() => {
      for (const [i, line] of lines.entries()) this.type.draw(line, { x, y: y + i * step }, style)
    })
  }

  /** Like `lines`, but the element may continue over pages. */
  flow(
    element: StructureElement,
    lines: readonly string[],
    { x, style }: { readonly x: number; readonly style: TextStyle },
  ): void {
    for (const line of lines) {
      this.ensure(LINE)
      this.lines(element, [line], { x, y: this.y + 9, style, step: 0 })
      this.y += LINE
    }
  }

  /** Screen readers skip decoration. */
  decoration(kind: 'Layout' | 'Pagination', draw: () => void): void {
    this.#doc.markContent('Artifact', { type: kind })
    draw()
    this.#doc.endMarkedContent()
  }

  box({ x, y, width, height }: Box, color: string): void {
    this.decoration('Layout', () => this.#doc.rect(x, y, width, height).fill(color))
  }

  /** `weight` is in points. */
  rule(y: number, { x = GRID.left, width = GRID.width, weight = 0.5, color = COLOR.faint } = {}): void {
    this.box({ x, y, width, height: weight }, color)
  }

  /** Call it once all pages exist. */
  onEveryPage(draw: (page: number) => void): void {
    for (let page = 0; page < this.#pages; page++) {
      this.#doc.switchToPage(page)
      this.decoration('Pagination', () => draw(page + 1))
    }
  }
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}
