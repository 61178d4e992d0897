import { describe, expect, test } from 'vitest'
import { importEdges, type SourceFile, sourceFiles } from '../support/source-tree.ts'

const files = sourceFiles()
const withTests = [...files, ...sourceFiles(['test'])]

/** Lines of a file. Above `told` the test reports the file, above `max` it fails. */
const LINES = { told: 500, max: 800 }
const LINES_MEDIAN_MAX = 110
const IMPORTS_MAX = 30

const BANNED_NAMES = /^(utils?|helpers?|common|manager|misc|types2?|index)\.ts$/

describe('shape', () => {
  test('the check sees sources and tests', () => {
    expect(files.length).toBeGreaterThan(120)
    expect(withTests.length).toBeGreaterThan(files.length + 20)
  })

  test(`no file is longer than ${LINES.max} lines`, () => {
    const longerThan = (most: number): readonly string[] =>
      withTests
        .filter(({ lines }) => lines.length > most + 1)
        .map(({ path, lines }) => `${path}: ${lines.length - 1} lines`)
    for (const long of longerThan(LINES.told)) console.warn(`above ${LINES.told} lines: ${long}`)
    expect(longerThan(LINES.max)).toEqual([])
  })

  test('the median file is short', () => {
    const lengths = files.map(({ lines }) => lines.length).sort((a, b) => a - b)
    expect(lengths[lengths.length >> 1]).toBeLessThanOrEqual(LINES_MEDIAN_MAX)
  })

  test('file names are kebab-case and say what is inside', () => {
    const odd = withTests.filter(({ path }) => {
      const name = path.split('/').at(-1) as string
      return !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|suite|config))?\.ts$/.test(name) || BANNED_NAMES.test(name)
    })
    expect(odd.map(({ path }) => path)).toEqual([])
  })

  test('every export is documented', () => {
    expect(files.flatMap(undocumentedExports)).toEqual([])
  })

  test('nothing is re-exported wholesale, nothing is left for later', () => {
    const banned =
      /^export \* |\bTODO\b|\bFIXME\b|\bXXX\b|@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-disable|\b(it|test|describe)\.(skip|only|todo)\b/
    // The second file shows what must not compile.
    const own = new Set(['test/tidy/shape.test.ts', 'test/unit/rpc/contract/schema.test.ts'])
    const found = withTests
      .filter(({ path }) => !own.has(path))
      .flatMap(({ path, lines }) => lines.filter((line) => banned.test(line)).map((line) => `${path}: ${line.trim()}`))
    expect(found).toEqual([])
  })

  test('a file depends on few others', () => {
    const counts = new Map<string, number>()
    for (const { from } of importEdges(files)) counts.set(from, (counts.get(from) ?? 0) + 1)
    // Two files put the node together, and the table of services is generated: a service for each import.
    const wiring = /^(src\/(daemon\/daemon|market\/open-market)|marketplace\/services\/table)\.ts$/
    const wide = [...counts].filter(([path, count]) => count > IMPORTS_MAX && !wiring.test(path))
    expect(wide).toEqual([])
  })
})

/** Exported declarations whose line before is not the end of a comment. Overloads and handler tables count as well. */
function undocumentedExports({ path, lines }: SourceFile): readonly string[] {
  return lines.flatMap((line, i) => {
    if (!/^export (async function\*?|function\*?|class|interface|type|const|abstract class) /.test(line)) return []
    const before = lines[i - 1] ?? ''
    return /\*\/\s*$/.test(before) ? [] : [`${path}:${i + 1} ${line.slice(0, 60)}`]
  })
}
