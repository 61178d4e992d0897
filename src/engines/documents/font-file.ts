/// <reference path="./pdfkit.d.mts" />
import { readFileSync } from 'node:fs'
import { PDFDocument } from 'pdfkit'
import type { OperatorFont } from '../../../marketplace/ports/document-tasks.ts'
import { EngineRefusal } from '../refusal.ts'
import { type CodePoints, formatRanges, isSetPlainly, rangesOf } from './code-points.ts'
import { plainFont } from './woff.ts'

/** Throws for an unreadable file and for a font collection. */
export function settableIn(bytes: Uint8Array): CodePoints {
  const scratch = new PDFDocument({ autoFirstPage: false, font: null })
  scratch.registerFont('font', plainFont(bytes)).font('font')
  const { characterSet } = scratch._font.font
  if (characterSet === undefined) throw new Error('it is a collection of fonts')
  return rangesOf(characterSet.filter(isSetPlainly))
}

/** Engine `document/font`. Throws a refusal if the file cannot be used. */
export function readFontFile({ path }: { readonly path: string }): OperatorFont {
  try {
    return { path, ranges: formatRanges(settableIn(readFileSync(path))) }
  } catch (error) {
    throw new EngineRefusal(error instanceof Error ? error.message : 'it cannot be read')
  }
}
