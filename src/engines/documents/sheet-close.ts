import type { DocumentSheet, LabelledText } from '../../../marketplace/ports/document-tasks.ts'
import type { Canvas } from './canvas.ts'
import { COLOR, GRID, LINE, STYLE } from './grid.ts'
import { drawFacts, type LaidFacts, layFacts } from './sheet-head.ts'
import type { TextStyle } from './type-setter.ts'

const TOTALS_WIDTH_MIN = GRID.right - GRID.second
const TOTAL_STEP = 18
const TOTAL_GAP = 10
const SECTION_WIDTH_MIN = 200
const HEADING_HEIGHT = 21
const GUTTER = 30
const PART_GAP = 26
const RULE_STEP = 11

/** The part below the rows. */
export function drawClose(canvas: Canvas, sheet: DocumentSheet): void {
  canvas.y += 14
  drawSums(canvas, sheet)
  if (sheet.notes !== null) drawNotes(canvas, sheet.notes)
  drawRule(canvas, sheet.rule)
}

/** The sections stand beside the sums if there is room. */
function drawSums(canvas: Canvas, { sections, ...sheet }: DocumentSheet): void {
  const sums = sumsOf(sheet)
  const sumsWidth = widthOf(canvas, sums)
  const sumsHeight = sums.length * TOTAL_STEP + TOTAL_GAP
  const isBeside = GRID.width - sumsWidth - GUTTER >= SECTION_WIDTH_MIN
  const laid = laySections(canvas, sections, isBeside ? GRID.width - sumsWidth - GUTTER : GRID.width)
  canvas.ensure(isBeside ? Math.max(sumsHeight, laid.height) : sumsHeight)
  const top = canvas.y
  drawTotals(canvas, sums, sumsWidth)
  if (isBeside) canvas.y = top
  else canvas.ensure(laid.height)
  drawSections(canvas, laid)
  canvas.y = isBeside ? top + Math.max(sumsHeight, laid.height) : canvas.y
}

/** `counts` is true for the final sum. */
interface Sum extends LabelledText {
  readonly counts: boolean
}

function sumsOf({ totals, contained = [] }: Pick<DocumentSheet, 'totals' | 'contained'>): readonly Sum[] {
  return [...totals, ...contained].map((one, i) => ({ ...one, counts: i === totals.length - 1 }))
}

function widthOf({ type }: Canvas, sums: readonly Sum[]): number {
  const needed = sums.map(({ label, value, counts }) => {
    const [labelStyle, valueStyle] = sumStyles(counts)
    return type.width(label, labelStyle) + GUTTER + type.width(value, valueStyle)
  })
  return Math.max(TOTALS_WIDTH_MIN, ...needed)
}

function sumStyles(counts: boolean): readonly [label: TextStyle, value: TextStyle] {
  return counts ? [STYLE.totalLabel, STYLE.total] : [STYLE.soft, STYLE.figure]
}

function drawTotals(canvas: Canvas, sums: readonly Sum[], width: number): void {
  const table = canvas.element('Table')
  const x = GRID.right - width
  for (const { label, value, counts } of sums) {
    if (counts) {
      canvas.rule(canvas.y + 3, { x, width, weight: 1, color: COLOR.accent })
      canvas.y += TOTAL_GAP
    }
    const y = canvas.y + 13
    const row = canvas.element('TR', table)
    const [labelStyle, valueStyle] = sumStyles(counts)
    canvas.lines(canvas.element('TH', row, 'Row'), [label], { x, y, style: labelStyle, step: 0 })
    canvas.element('TD', row).add(() => canvas.type.drawRight(value, { x: GRID.right, y }, valueStyle))
    canvas.y += TOTAL_STEP
  }
}

interface LaidSections {
  readonly sections: readonly { readonly heading: string; readonly laid: LaidFacts }[]
  readonly height: number
}

function laySections(canvas: Canvas, sections: DocumentSheet['sections'], width: number): LaidSections {
  const laid = sections.map(({ heading, facts }) => ({ heading, laid: layFacts(canvas, facts, width) }))
  return { sections: laid, height: laid.reduce((sum, one) => sum + HEADING_HEIGHT + one.laid.height, 0) }
}

function drawSections(canvas: Canvas, { sections }: LaidSections): void {
  for (const { heading, laid } of sections) {
    drawHeading(canvas, heading)
    drawFacts(canvas, laid, GRID.left)
    canvas.y += laid.height
  }
}

function drawHeading(canvas: Canvas, heading: string): void {
  canvas.lines(canvas.element('H2'), [heading], { x: GRID.left, y: canvas.y + 13, style: STYLE.label, step: 0 })
  canvas.y += HEADING_HEIGHT
}

function drawNotes(canvas: Canvas, notes: string): void {
  const lines = canvas.type.wrapRows(notes.split('\n'), STYLE.body, GRID.width)
  canvas.y += PART_GAP - 13
  canvas.ensure(HEADING_HEIGHT + 2 * LINE)
  drawHeading(canvas, 'Notes')
  canvas.flow(canvas.element('P'), lines, { x: GRID.left, style: STYLE.body })
}

function drawRule(canvas: Canvas, rule: string): void {
  const lines = canvas.type.wrap(rule, STYLE.small, GRID.width)
  canvas.y += PART_GAP - RULE_STEP
  canvas.ensure(lines.length * RULE_STEP)
  canvas.lines(canvas.element('P'), lines, { x: GRID.left, y: canvas.y + 8, style: STYLE.small, step: RULE_STEP })
  canvas.y += lines.length * RULE_STEP
}
