import { describe, expect, test } from 'vitest'
import { sourceFiles } from '../support/source-tree.ts'

const commands = sourceFiles().filter(({ path }) => path.startsWith('src/cli/'))

/** Commands print text that strangers wrote, and such text could control a terminal. So only one file of `src/cli` writes to it. */
describe('the terminal', () => {
  test('the check sees the commands', () => {
    expect(commands.length).toBeGreaterThan(40)
  })

  test('only the door of the program writes to it', () => {
    const found = commands
      .filter(({ path }) => path !== 'src/cli/run.ts')
      .flatMap(({ path, lines }) =>
        lines.filter((line) => /process\.std(out|err)|console\./.test(line)).map((line) => `${path}: ${line.trim()}`),
      )
    expect(found).toEqual([])
  })

  test('JSON is not printed as a line of text, which would lose what is escaped', () => {
    const found = commands.flatMap(({ path, lines }) =>
      lines.filter((line) => /\bprint\(.*JSON\.stringify/.test(line)).map((line) => `${path}: ${line.trim()}`),
    )
    expect(found).toEqual([])
  })
})
