import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { OperatorFont } from '../../../marketplace/ports/document-tasks.ts'
import { type CodePoints, parseRanges } from './code-points.ts'
import coverage from './coverage.json' with { type: 'json' }
import { plainFont } from './woff.ts'

/** Font weight. */
export type Weight = 'regular' | 'bold'

/** A font in both weights. */
export interface Face {
  readonly name: string
  readonly codePoints: CodePoints
  readonly path: (weight: Weight) => string
}

/** Inter has one file per script. DejaVu covers many other characters. */
export const BUILT_IN_FILES: Readonly<Record<keyof typeof coverage, Readonly<Record<Weight, string>>>> = {
  latin: inter('latin'),
  'latin-ext': inter('latin-ext'),
  greek: inter('greek'),
  'greek-ext': inter('greek-ext'),
  cyrillic: inter('cyrillic'),
  'cyrillic-ext': inter('cyrillic-ext'),
  vietnamese: inter('vietnamese'),
  dejavu: { regular: dejavu('DejaVuSans'), bold: dejavu('DejaVuSans-Bold') },
}

/** WOFF, not WOFF2: fontkit fails on some of the WOFF2 files. */
function inter(script: string): Readonly<Record<Weight, string>> {
  const folder = import.meta.resolve('@fontsource/inter/package.json')
  const file = (weight: number): string => fileURLToPath(new URL(`files/inter-${script}-${weight}-normal.woff`, folder))
  return { regular: file(400), bold: file(600) }
}

function dejavu(name: string): string {
  return fileURLToPath(new URL(`ttf/${name}.ttf`, import.meta.resolve('dejavu-fonts-ttf/package.json')))
}

const BUILT_IN: readonly Face[] = (Object.keys(BUILT_IN_FILES) as (keyof typeof coverage)[]).map((name) => ({
  name,
  codePoints: parseRanges(coverage[name]),
  path: (weight) => BUILT_IN_FILES[name][weight],
}))

/** A letter is set in the first face that covers it. */
export function facesWith(fonts: readonly OperatorFont[]): readonly Face[] {
  const own = fonts.map(({ path, ranges }) => ({ name: path, codePoints: parseRanges(ranges), path: () => path }))
  return [...BUILT_IN, ...own]
}

const files = new Map<string, Uint8Array>()

/** Read once per process. There are a few dozen files at most. */
export function fontBytes(path: string): Uint8Array {
  let bytes = files.get(path)
  if (bytes === undefined) {
    bytes = plainFont(readFileSync(path))
    files.set(path, bytes)
  }
  return bytes
}
