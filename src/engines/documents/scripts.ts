import type { Face } from './faces.ts'
import { unsettableIn } from './text-runs.ts'

/** Letters that a font for a script has, in one of its ways of writing. Scripts that operators add stand before the rarer built-in ones. */
const LETTERS: Readonly<Record<string, readonly string[]>> = {
  Latin: ['AZazÄßñőł'],
  Greek: ['ΑΩαωέ'],
  Cyrillic: ['АЯаяёі'],
  Chinese: ['这们说时东', '這們說時東'],
  Japanese: ['あんアン山田東'],
  Korean: ['가나한국힣'],
  Ethiopic: ['ሀለመፐ'],
  Armenian: ['ԱՖաֆ'],
  Georgian: ['აბჰ'],
}

/** Scripts that these faces print, by name, those that are asked for most first. */
export function scriptsOf(faces: readonly Face[]): readonly string[] {
  const isPrinted = (letters: string): boolean => unsettableIn(faces, letters).length === 0
  return Object.keys(LETTERS).filter((name) => LETTERS[name]?.some(isPrinted))
}
