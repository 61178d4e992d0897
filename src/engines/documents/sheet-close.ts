import type { DocumentSheet, LabelledText } from '../../../marketplace/outside/document-tasks.ts'
import type { Canvas } from './canvas.ts'
import { COLOR, GRID, LINE, STYLE } from './grid.ts'
import { drawFacts } from './sheet-head.ts'

/** From the second column to the right edge. */
const TOTALS_WIDTH_MIN = GRID.right - GRID.second
const TOTAL_STEP = 18
const GUTTER = 30
const PART_GAP = 26
const RULE_STEP = 11

/** What follows the positions: sums, how it is paid, notes, and how the figures came about. */
export function drawClose(canvas: Canvas, sheet: DocumentSheet): void {
  canvas.y += 14
  drawSums(canvas, sheet)
  if (sheet.notes !== null) drawNotes(canvas, sheet.notes)
  drawRule(canvas, sheet.rule)
}

/** Sums at the right; the sections stand beside them where there is room. */
function drawSums(canvas: Canvas, { totals, sections }: DocumentSheet): void {
  const width = totalsWidth(canvas, totals)
  const height = totals.length * TOTAL_STEP + 24
  canvas.ensure(Math.max(height, sections.length === 0 ? 0 : SECTION_HEIGHT_MAX))
  const top = canvas.y
  drawTotals(canvas, totals, width)
  if (sections.length === 0) return
  const isBeside = GRID.width - width - GUTTER >= TOTALS_WIDTH_MIN
  const sumsEnd = canvas.y
  if (isBeside) canvas.y = top
  else canvas.ensure(SECTION_HEIGHT_MAX)
  drawSections(canvas, sections, isBeside ? GRID.width - width - GUTTER : GRID.width)
  canvas.y = isBeside ? Math.max(canvas.y, sumsEnd) : canvas.y
}

/** Heading, and three values of which one may take several lines. */
const SECTION_HEIGHT_MAX = 150

function totalsWidth({ type }: Canvas, totals: readonly LabelledText[]): number {
  const last = totals.at(-1) as LabelledText
  const needed = type.width(last.label, STYLE.totalLabel) + GUTTER + type.width(last.value, STYLE.total)
  return Math.max(TOTALS_WIDTH_MIN, needed)
}

function drawTotals(canvas: Canvas, totals: readonly LabelledText[], width: number): void {
  const table = canvas.element('Table')
  const x = GRID.right - width
  for (const [i, { label, value }] of totals.entries()) {
    const isLast = i === totals.length - 1
    if (isLast) {
      canvas.rule(canvas.y + 3, { x, width, weight: 1, color: COLOR.accent })
      canvas.y += 10
    }
    const y = canvas.y + 13
    const row = canvas.element('TR', table)
    const [labelStyle, valueStyle] = isLast ? [STYLE.totalLabel, STYLE.total] : [STYLE.soft, STYLE.figure]
    canvas.lines(canvas.element('TH', row, 'Row'), [label], { x, y, style: labelStyle, step: 0 })
    canvas.element('TD', row).add(() => canvas.type.drawRight(value, { x: GRID.right, y }, valueStyle))
    canvas.y += TOTAL_STEP
  }
}

function drawSections(canvas: Canvas, sections: DocumentSheet['sections'], width: number): void {
  for (const { heading, facts } of sections) {
    drawHeading(canvas, heading)
    canvas.y = drawFacts(canvas, facts, { x: GRID.left, y: canvas.y, width }) + 8
  }
}

function drawHeading(canvas: Canvas, heading: string): void {
  canvas.lines(canvas.element('H2'), [heading], { x: GRID.left, y: canvas.y + 13, style: STYLE.label, step: 0 })
  canvas.y += 21
}

/** Notes go on over pages, line by line. */
function drawNotes(canvas: Canvas, notes: string): void {
  const lines = notes.split('\n').flatMap((row) => canvas.type.wrap(row, STYLE.body, GRID.width))
  canvas.y += PART_GAP - 13
  canvas.ensure(21 + 2 * LINE)
  drawHeading(canvas, 'Notes')
  const element = canvas.element('P')
  for (const line of lines) {
    canvas.ensure(LINE)
    canvas.lines(element, [line], { x: GRID.left, y: canvas.y + 9, style: STYLE.body, step: 0 })
    canvas.y += LINE
  }
}

function drawRule(canvas: Canvas, rule: string): void {
  const lines = canvas.type.wrap(rule, STYLE.small, GRID.width)
  canvas.y += PART_GAP - RULE_STEP
  canvas.ensure(lines.length * RULE_STEP)
  canvas.lines(canvas.element('P'), lines, { x: GRID.left, y: canvas.y + 8, style: STYLE.small, step: RULE_STEP })
  canvas.y += lines.length * RULE_STEP
}
