import { readFileSync } from 'node:fs'
import { formatRanges, includesCodePoint, rangesOf } from '../../src/engines/documents/code-points.ts'
import { BUILT_IN_FILES } from '../../src/engines/documents/faces.ts'
import { settableIn } from '../../src/engines/documents/font-file.ts'

/** JSON text: for each built-in font, the characters that both of its weights have. */
export function fontCoverage(): string {
  const rows = Object.entries(BUILT_IN_FILES).map(([name, { regular, bold }]) => {
    const inBold = settableIn(readFileSync(bold))
    const inBoth = eachOf(settableIn(readFileSync(regular))).filter((one) => includesCodePoint(inBold, one))
    return [name, formatRanges(rangesOf(inBoth))]
  })
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`
}

function eachOf(ranges: readonly number[]): readonly number[] {
  const all: number[] = []
  for (let i = 0; i < ranges.length; i += 2)
    for (let one = ranges[i] as number; one <= (ranges[i + 1] as number); one++) all.push(one)
  return all
}
