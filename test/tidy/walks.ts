import { dirname } from 'node:path'

/** A step of a walk: the function that is read. */
export interface Step {
  readonly path: string
  /** A function, a constant or a class member as `Class.member`. */
  readonly name: string
}

/** A walk through the code: a heading and its steps in the order of reading. */
export interface Walk {
  readonly title: string
  readonly steps: readonly Step[]
}

/** A walk that enters a folder or file more often than this is reported. */
const ENTERED_MAX = 3
const STEP = /^\d+\. `([\w./-]+\.ts)`: `(#?\w+(?:\.#?\w+)?)`/

/**
 * Walks of a document: headings with lines `n. \`path\`: \`function\`` below. The rules for what is a step:
 * - A function that is called in another file is a step. The caller is a step again if it makes the next call.
 * - A function that only computes a value is no step if it belongs to the ground floor (`consensus/` without `chain/` and `ledger/`).
 * - A look-up in a map or a table, and a call that only counts or notes something, are no steps.
 * - A helper that was read before is no step the second time.
 */
export function walksIn(document: string): readonly Walk[] {
  const sections = document.split(/^#+ /m).map((section) => {
    const [title = '', ...lines] = section.split('\n')
    const steps = lines.flatMap((line) => {
      const [, path, name] = STEP.exec(line) ?? []
      return path === undefined || name === undefined ? [] : [{ path, name }]
    })
    return { title, steps }
  })
  return sections.filter(({ steps }) => steps.length > 0)
}

/** Changes of file from step to step. */
export function hops({ steps }: Walk): number {
  return steps.filter(({ path }, i) => i > 0 && path !== steps[i - 1]?.path).length
}

/** How often a walk comes into each folder, or each file, from another one. */
export function entries({ steps }: Walk, of: 'folder' | 'file'): Readonly<Record<string, number>> {
  const places = steps.map(({ path }) => (of === 'file' ? path : dirname(path)))
  const counts: Record<string, number> = {}
  for (const [i, place] of places.entries()) if (place !== places[i - 1]) counts[place] = (counts[place] ?? 0) + 1
  return counts
}

/** Steps whose file does not have what they name. `textOf` gives a file's text, undefined where there is no such file. */
export function missingSteps({ steps }: Walk, textOf: (path: string) => string | undefined): readonly string[] {
  return steps
    .filter(({ path, name }) => !declares(textOf(path) ?? '', name))
    .map(({ path, name }) => `${path}: ${name}`)
}

/** A row for each walk: steps, hops, what is entered more than three times, and what is not found. */
export function walkRows(
  document: string,
  textOf: (path: string) => string | undefined,
): readonly (readonly (string | number)[])[] {
  return walksIn(document).map((walk) => {
    const often = (of: 'folder' | 'file'): string =>
      Object.entries(entries(walk, of))
        .filter(([, count]) => count > ENTERED_MAX)
        .sort(([, a], [, b]) => b - a)
        .map(([place, count]) => `${place} ${count}`)
        .join(', ')
    const missing = missingSteps(walk, textOf).join(', ')
    return [walk.title, walk.steps.length, hops(walk), often('folder'), often('file'), missing]
  })
}

/** Whether a file declares a name; a member must be in a file that declares its class. */
function declares(text: string, name: string): boolean {
  const [first = '', member] = name.split('.')
  if (member === undefined)
    return new RegExp(`^(?:export )?(?:async )?(?:function\\*? |const |class )${first}\\b`, 'm').test(text)
  const modifiers = '(?:static |readonly |async |get )*\\*?'
  return declares(text, first) && new RegExp(`^ {2}${modifiers}${member}(?:<[^\\n]*>)?(?:\\(|:| =)`, 'm').test(text)
}
