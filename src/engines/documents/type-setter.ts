import type { OpenedFont, PDFDocument } from 'pdfkit'
import { type Face, fontBytes, type Weight } from './faces.ts'
import { graphemes, type TextRun, textRuns } from './text-runs.ts'

/** Style of a text. */
export interface TextStyle {
  readonly weight: Weight
  /** In points. */
  readonly size: number
  readonly color: string
  /** Whether all digits are equally wide, for columns of figures. */
  readonly tabular?: boolean
}

/** Widths are measured at this size and scaled, so that they do not depend on the drawn size. */
const MEASURE_SIZE = 1_000
/** A line may break after a space, hyphen, dash or slash, and after a Han or kana letter unless punctuation follows. */
const BREAKS = /(?<=[ \-\u2013\u2014/])|(?<=[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}])(?!\p{P})/u

/**
 * Measures and draws text with the same font features, or lines would not end where measured. Each document opens its
 * fonts anew: an opened font remembers which text it has set, and equal documents must be equal files.
 */
export class TypeSetter {
  readonly #doc: PDFDocument
  readonly #faces: readonly Face[]
  readonly #opened = new Set<string>()
  readonly #runs = new Map<string, readonly TextRun[]>()
  readonly #widths = new Map<string, number>()

  constructor(doc: PDFDocument, faces: readonly Face[]) {
    this.#doc = doc
    this.#faces = faces
  }

  /** In points. */
  width(text: string, style: TextStyle): number {
    return this.#runsOf(text).reduce((sum, run) => sum + this.#runWidth(run, style), 0)
  }

  /** y is the baseline. */
  draw(text: string, { x, y }: { readonly x: number; readonly y: number }, style: TextStyle): void {
    let at = x
    for (const run of this.#runsOf(text)) {
      const textWidth = this.#runWidth(run, style)
      this.#use(run.face, style.weight, style.size)
      const options = { lineBreak: false, baseline: 'alphabetic', textWidth, features: featuresOf(style) } as const
      this.#doc.fillColor(style.color).text(run.text, at, y, options)
      at += textWidth
    }
  }

  drawRight(text: string, at: { readonly x: number; readonly y: number }, style: TextStyle): void {
    this.draw(text, { x: at.x - this.width(text, style), y: at.y }, style)
  }

  /**
   * A word that is too long is broken between letters. A line broken at a space keeps the space: without it a screen
   * reader would join the words.
   */
  wrap(text: string, style: TextStyle, width: number): readonly string[] {
    const lines: string[] = []
    let line = ''
    let filled = 0
    const add = (piece: string): void => {
      if (line !== '' && filled + this.width(piece.trimEnd(), style) > width) {
        lines.push(ended(line))
        line = ''
        filled = 0
      }
      line += piece
      filled += this.width(piece, style)
    }
    for (const piece of text.split(BREAKS)) {
      const fits = this.width(piece.trimEnd(), style) <= width
      for (const part of fits ? [piece] : graphemes(piece)) add(part)
    }
    return [...lines, ended(line)]
  }

  /** Each row but the last ends with a space too, unless the row is empty. */
  wrapRows(rows: readonly string[], style: TextStyle, width: number): readonly string[] {
    return rows.flatMap((row, i) => this.wrap(row === '' || i === rows.length - 1 ? row : `${row} `, style, width))
  }

  #runsOf(text: string): readonly TextRun[] {
    const runs = this.#runs.get(text) ?? textRuns(this.#faces, text)
    this.#runs.set(text, runs)
    return runs
  }

  #runWidth({ face, text }: TextRun, style: TextStyle): number {
    const key = `${face.name} ${style.weight} ${style.tabular === true} ${text}`
    let width = this.#widths.get(key)
    if (width === undefined) {
      this.#use(face, style.weight, MEASURE_SIZE)
      width = this.#doc.widthOfString(text, { features: featuresOf(style) }) / MEASURE_SIZE
      this.#widths.set(key, width)
    }
    return width * style.size
  }

  #use(face: Face, weight: Weight, size: number): void {
    const path = face.path(weight)
    if (!this.#opened.has(path)) {
      this.#opened.add(path)
      this.#doc.registerFont(path, fontBytes(path)).font(path)
      rememberLayouts(this.#doc._font)
    }
    this.#doc.font(path).fontSize(size)
  }
}

function ended(line: string): string {
  return line.endsWith(' ') ? `${line.trimEnd()} ` : line.trimEnd()
}

/** Layout takes nearly all the time, and fontkit repeats it if features are named. */
function rememberLayouts(font: OpenedFont): void {
  const layouts = new Map<string, unknown>()
  const layoutRun = font.layoutRun.bind(font)
  font.layoutRun = (text, features) => {
    const key = `${features === TABULAR} ${text}`
    const layout = layouts.get(key) ?? layoutRun(text, features)
    layouts.set(key, layout)
    return layout
  }
}

/** Contextual alternates are off: they turn "->" into an arrow, and an x between digits into a times sign. */
function featuresOf({ tabular }: TextStyle): Readonly<Record<string, boolean>> {
  return tabular === true ? TABULAR : PLAIN
}
const PLAIN = { calt: false }
const TABULAR = { calt: false, tnum: true }
