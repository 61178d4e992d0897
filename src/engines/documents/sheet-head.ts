import type { DocumentSheet, LabelledText, SheetParty } from '../../../marketplace/outside/document-tasks.ts'
import type { Canvas } from './canvas.ts'
import { COLOR, GRID, LINE, PAGE, STYLE } from './grid.ts'

const BAR_HEIGHT = 6
const GUTTER = 24
const LEFT_WIDTH = GRID.second - GRID.left - GUTTER
const RIGHT_WIDTH = GRID.right - GRID.second
const LABEL_WIDTH = 92
const PART_GAP = 30

/** What it is, who issues it, for whom, and its dates. */
export function drawHead(canvas: Canvas, { heading, number, seller, buyer, facts }: DocumentSheet): void {
  canvas.box({ x: 0, y: 0, width: PAGE.width, height: BAR_HEIGHT }, COLOR.accent)
  const top = canvas.y
  const titleEnd = drawTitle(canvas, heading, number)
  const sellerEnd = seller === null ? top : drawParty(canvas, seller, { x: GRID.second, y: top, width: RIGHT_WIDTH })
  const second = Math.max(titleEnd, sellerEnd) + PART_GAP
  const buyerEnd = drawParty(canvas, buyer, { x: GRID.left, y: second, width: LEFT_WIDTH })
  const factsEnd = drawFacts(canvas, facts, { x: GRID.second, y: second, width: RIGHT_WIDTH })
  canvas.y = Math.max(buyerEnd, factsEnd) + PART_GAP
}

/** Where a part stands. */
interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
}

function drawTitle(canvas: Canvas, heading: string, number: string): number {
  const x = GRID.left
  canvas.lines(canvas.element('H1'), [heading], { x, y: canvas.y + 20, style: STYLE.heading, step: 0 })
  const lines = canvas.type.wrap(`No. ${number}`, STYLE.number, LEFT_WIDTH)
  canvas.lines(canvas.element('P'), lines, { x, y: canvas.y + 40, style: STYLE.number, step: 15 })
  return canvas.y + 40 + (lines.length - 1) * 15
}

/** Draws somebody; returns where that ends. */
function drawParty(canvas: Canvas, { label, name, lines }: SheetParty, { x, y, width }: Place): number {
  const part = canvas.element('Sect')
  const names = canvas.type.wrap(name, STYLE.name, width)
  const rest = lines.flatMap((line) => canvas.type.wrap(line, STYLE.soft, width))
  const nameY = y + 24
  const restY = nameY + names.length * LINE + 1
  canvas.lines(canvas.element('P', part), [label], { x, y: y + 8, style: STYLE.label, step: 0 })
  canvas.lines(canvas.element('P', part), names, { x, y: nameY, style: STYLE.name, step: LINE })
  if (rest.length > 0) canvas.lines(canvas.element('P', part), rest, { x, y: restY, style: STYLE.soft, step: LINE })
  return restY + (rest.length - 1) * LINE
}

/** Draws labels with their values; returns the last baseline. */
export function drawFacts(canvas: Canvas, facts: readonly LabelledText[], { x, y, width }: Place): number {
  let baseline = y + 8
  for (const { label, value } of facts) {
    const lines = canvas.type.wrap(value, STYLE.body, width - LABEL_WIDTH)
    const element = canvas.element('P')
    canvas.lines(element, [label], { x, y: baseline, style: STYLE.soft, step: 0 })
    canvas.lines(element, lines, { x: x + LABEL_WIDTH, y: baseline, style: STYLE.body, step: LINE })
    baseline += lines.length * LINE + 2
  }
  return baseline - LINE - 2
}
