import { includesCodePoint } from './code-points.ts'
import type { Face } from './faces.ts'

/** A piece of text that is set in one face. */
export interface TextRun {
  readonly face: Face
  readonly text: string
}

const ASCII = /^[\x20-\x7e]*$/
const GRAPHEMES = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Letters, each with its marks. */
export function graphemes(text: string): readonly string[] {
  return ASCII.test(text) ? [...text] : Array.from(GRAPHEMES.segment(text), ({ segment }) => segment)
}

/** A letter and its marks use one face, or the marks would be misplaced. */
export function textRuns(faces: readonly Face[], text: string): readonly TextRun[] {
  const [first] = faces
  if (first !== undefined && ASCII.test(text)) return text === '' ? [] : [{ face: first, text }]
  const runs: { face: Face; text: string }[] = []
  for (const letter of graphemes(text)) {
    const last = runs.at(-1)
    const face = last !== undefined && letter === ' ' && covers(last.face, letter) ? last.face : faceFor(faces, letter)
    if (face === undefined) throw new Error('a letter that no font has was not refused')
    if (last?.face === face) last.text += letter
    else runs.push({ face, text: letter })
  }
  return runs
}

/** Letters that no face covers, each once. */
export function unsettableIn(faces: readonly Face[], text: string): readonly string[] {
  const rows = text.split('\n').filter((row) => !ASCII.test(row))
  return [...new Set(rows.flatMap(graphemes).filter((letter) => faceFor(faces, letter) === undefined))]
}

function faceFor(faces: readonly Face[], letter: string): Face | undefined {
  return faces.find((face) => covers(face, letter))
}

function covers({ codePoints }: Face, letter: string): boolean {
  for (const character of letter) if (!includesCodePoint(codePoints, character.codePointAt(0) as number)) return false
  return true
}
