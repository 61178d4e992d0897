import type { DocumentSheet, LabelledText, SheetParty } from '../../../marketplace/ports/document-tasks.ts'
import { type Canvas, fitsPage } from './canvas.ts'
import { COLOR, GRID, LINE, PAGE, STYLE } from './grid.ts'

const BAR_HEIGHT = 6
const GUTTER = 24
const LEFT_WIDTH = GRID.second - GRID.left - GUTTER
const RIGHT_WIDTH = GRID.right - GRID.second
const LABEL_WIDTH = 92
const PART_GAP = 30
const FACT_GAP = 2
/** Distances from the top of a part. */
const FIRST_BASELINE = 8
const PARTY_NAME = 24

/** Title, seller, buyer, and dates. */
export function drawHead(canvas: Canvas, { heading, number, seller, buyer, facts }: DocumentSheet): void {
  canvas.box({ x: 0, y: 0, width: PAGE.width, height: BAR_HEIGHT }, COLOR.accent)
  const from = seller && layParty(canvas, seller, RIGHT_WIDTH)
  const isFromLong = from !== null && !fitsPage(from.height)
  if (from !== null && !isFromLong) canvas.ensure(from.height)
  const titleHeight = drawTitle(canvas, heading, number)
  if (isFromLong) flowParty(canvas, from, GRID.second)
  else {
    if (from !== null) drawParty(canvas, from, GRID.second)
    canvas.y += Math.max(titleHeight, from?.height ?? 0)
  }
  canvas.y += PART_GAP
  drawBuyer(canvas, layParty(canvas, buyer, LEFT_WIDTH), layFacts(canvas, facts, RIGHT_WIDTH))
  canvas.y += PART_GAP
}

function drawBuyer(canvas: Canvas, to: LaidParty, dates: LaidFacts): void {
  if (!fitsPage(to.height)) {
    canvas.ensure(dates.height)
    drawFacts(canvas, dates, GRID.second)
    flowParty(canvas, to, GRID.left)
    return
  }
  const height = Math.max(to.height, dates.height)
  canvas.ensure(height)
  drawParty(canvas, to, GRID.left)
  drawFacts(canvas, dates, GRID.second)
  canvas.y += height
}

/** Returns the height. */
function drawTitle(canvas: Canvas, heading: string, number: string): number {
  const x = GRID.left
  canvas.lines(canvas.element('H1'), [heading], { x, y: canvas.y + 20, style: STYLE.heading, step: 0 })
  const lines = canvas.type.wrap(`No. ${number}`, STYLE.number, LEFT_WIDTH)
  canvas.lines(canvas.element('P'), lines, { x, y: canvas.y + 40, style: STYLE.number, step: 15 })
  return 40 + (lines.length - 1) * 15
}

interface LaidParty {
  readonly label: string
  readonly names: readonly string[]
  readonly rest: readonly string[]
  readonly height: number
}

function layParty({ type }: Canvas, { label, name, lines }: SheetParty, width: number): LaidParty {
  const names = type.wrap(name, STYLE.name, width)
  const rest = type.wrapRows(lines, STYLE.soft, width)
  return { label, names, rest, height: PARTY_NAME + (names.length + rest.length - 1) * LINE + 1 }
}

function drawParty(canvas: Canvas, { label, names, rest }: LaidParty, x: number): void {
  const { y } = canvas
  const part = canvas.element('Sect')
  const nameY = y + PARTY_NAME
  const restY = nameY + names.length * LINE + 1
  canvas.lines(canvas.element('P', part), [label], { x, y: y + FIRST_BASELINE, style: STYLE.label, step: 0 })
  canvas.lines(canvas.element('P', part), names, { x, y: nameY, style: STYLE.name, step: LINE })
  if (rest.length > 0) canvas.lines(canvas.element('P', part), rest, { x, y: restY, style: STYLE.soft, step: LINE })
}

/** A party that is higher than a page continues over pages. */
function flowParty(canvas: Canvas, { label, names, rest }: LaidParty, x: number): void {
  const part = canvas.element('Sect')
  canvas.flow(canvas.element('P', part), [label], { x, style: STYLE.label })
  canvas.flow(canvas.element('P', part), names, { x, style: STYLE.name })
  canvas.flow(canvas.element('P', part), rest, { x, style: STYLE.soft })
}

/** Labels with values, broken into lines. */
export interface LaidFacts {
  readonly facts: readonly { readonly label: string; readonly lines: readonly string[] }[]
  readonly height: number
}

/** Breaks values into lines of a width. */
export function layFacts({ type }: Canvas, facts: readonly LabelledText[], width: number): LaidFacts {
  const laid = facts.map(({ label, value }) => ({
    label,
    lines: type.wrap(value, STYLE.body, width - LABEL_WIDTH),
  }))
  return { facts: laid, height: laid.reduce((sum, { lines }) => sum + lines.length * LINE + FACT_GAP, 0) }
}

/** Draws labels with their values at the current position. */
export function drawFacts(canvas: Canvas, { facts }: LaidFacts, x: number): void {
  let y = canvas.y + FIRST_BASELINE
  for (const { label, lines } of facts) {
    const element = canvas.element('P')
    canvas.lines(element, [`${label} `], { x, y, style: STYLE.soft, step: 0 })
    canvas.lines(element, lines, { x: x + LABEL_WIDTH, y, style: STYLE.body, step: LINE })
    y += lines.length * LINE + FACT_GAP
  }
}
