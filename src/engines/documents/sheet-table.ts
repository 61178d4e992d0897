import type { StructureElement } from 'pdfkit'
import type { DocumentSheet, SheetRow } from '../../../marketplace/ports/document-tasks.ts'
import type { Canvas } from './canvas.ts'
import { COLOR, GRID, LINE, STYLE } from './grid.ts'
import type { TextStyle } from './type-setter.ts'

const GAP = 18
const PAD = 7
const HEAD_HEIGHT = 22
const FIRST_BASELINE = PAD + 8
/** A description of at most this many lines stays on one page. A longer one begins with this many. */
const TOGETHER_MAX = 6
const FIGURES = ['qty', 'unitPrice', 'vat', 'amount'] as const
type Figure = (typeof FIGURES)[number]

interface Columns {
  readonly figures: readonly Figure[]
  readonly right: ReadonlyMap<Figure, number>
  readonly descriptionWidth: number
}

/** Each page begins with the column heads. */
export class SheetTable {
  readonly #canvas: Canvas
  readonly #sheet: DocumentSheet
  readonly #columns: Columns
  readonly #table: StructureElement
  #rowTop = 0
  #rowEnd = 0

  constructor(canvas: Canvas, sheet: DocumentSheet) {
    this.#canvas = canvas
    this.#sheet = sheet
    this.#columns = columnsOf(canvas, sheet)
    this.#table = canvas.element('Table')
  }

  draw(): void {
    const [first] = this.#sheet.rows
    if (first !== undefined) this.#canvas.ensure(HEAD_HEIGHT + this.#heightToBegin(this.#linesOf(first)))
    this.#drawHead()
    for (const row of this.#sheet.rows) this.#drawRow(row)
  }

  #drawHead(): void {
    const canvas = this.#canvas
    const row = canvas.element('TR', this.#table)
    this.#drawHeadBox()
    for (const name of ['description', ...this.#columns.figures] as const)
      canvas.element('TH', row, 'Column').add(() => this.#drawHeadCell(name))
    canvas.y += HEAD_HEIGHT
  }

  /** As decoration, because the structure tree has the heads already. */
  #repeatHead(): void {
    this.#canvas.nextPage()
    this.#drawHeadBox()
    this.#canvas.decoration('Pagination', () => {
      for (const name of ['description', ...this.#columns.figures] as const) this.#drawHeadCell(name)
    })
    this.#canvas.y += HEAD_HEIGHT
  }

  #drawHeadBox(): void {
    const { y } = this.#canvas
    this.#canvas.box({ x: GRID.left - PAD, y, width: GRID.width + 2 * PAD, height: HEAD_HEIGHT }, COLOR.tint)
  }

  #drawHeadCell(name: keyof SheetRow): void {
    this.#drawCell(name, this.#sheet.columns[name] as string, { y: this.#canvas.y + 14, style: STYLE.label })
  }

  #drawCell(name: keyof SheetRow, text: string, { y, style }: { readonly y: number; readonly style: TextStyle }): void {
    const { type } = this.#canvas
    if (name === 'description') type.draw(text, { x: GRID.left, y }, style)
    else type.drawRight(text, { x: this.#columns.right.get(name) as number, y }, style)
  }

  #drawRow(row: SheetRow): void {
    const canvas = this.#canvas
    const element = canvas.element('TR', this.#table)
    const description = canvas.element('TD', element)
    let lines = this.#linesOf(row)
    if (canvas.room < this.#heightToBegin(lines)) this.#repeatHead()
    lines = this.#drawLines(description, lines)
    for (const name of this.#columns.figures)
      canvas.element('TD', element).add(() => {
        this.#drawCell(name, row[name] as string, { y: this.#rowTop + FIRST_BASELINE, style: STYLE.figure })
      })
    while (lines.length > 0) {
      this.#repeatHead()
      lines = this.#drawLines(description, lines)
    }
    canvas.y = this.#rowEnd
    canvas.rule(canvas.y)
  }

  #linesOf({ description }: SheetRow): readonly string[] {
    return this.#canvas.type.wrap(description, STYLE.body, this.#columns.descriptionWidth)
  }

  #heightToBegin(lines: readonly string[]): number {
    return Math.min(lines.length, TOGETHER_MAX) * LINE + 2 * PAD
  }

  /** Returns the lines that do not fit on this page. */
  #drawLines(element: StructureElement, lines: readonly string[]): readonly string[] {
    const { y, room } = this.#canvas
    const fit = Math.floor((room - 2 * PAD) / LINE)
    const here = lines.slice(0, fit)
    this.#rowTop = y
    this.#rowEnd = y + here.length * LINE + 2 * PAD - 2
    this.#canvas.lines(element, here, { x: GRID.left, y: y + FIRST_BASELINE, style: STYLE.body, step: LINE })
    return lines.slice(fit)
  }
}

/** Figure columns are as wide as their widest value or their head. */
function columnsOf({ type }: Canvas, { columns, rows }: DocumentSheet): Columns {
  const figures = FIGURES.filter((name) => columns[name] !== undefined)
  const widthOf = (name: Figure): number =>
    rows.reduce(
      (widest, row) => Math.max(widest, type.width(row[name] as string, STYLE.figure)),
      type.width(columns[name] as string, STYLE.label),
    )
  const right = new Map<Figure, number>()
  let edge = GRID.right
  for (const name of figures.toReversed()) {
    right.set(name, edge)
    edge -= widthOf(name) + GAP
  }
  return { figures, right, descriptionWidth: edge - GRID.left }
}
