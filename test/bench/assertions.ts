import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { ROOT } from '../support/source-tree.ts'

/** Figures of one version of the tests, counted in its text. */
interface Counts {
  readonly files: number
  /** Calls of `it` and `test`; one with `each` or `for` counts once. */
  readonly tests: number
  /** Calls of `fc.assert` and of `expect` with its variants such as `expect.poll`, in tests and their shared files. */
  readonly assertions: number
}

const FOLDERS = ['test/', 'docs/examples/']
const TEST = /(?:^|[^.\w])(?:it|test)(?:\.\w+)*(?:\(|`)/gm
const ASSERTION = /(?:^|[^.\w])(?:expect(?:\.(?:poll|soft|unreachable|fail))?|fc\.assert)(?:<[^>(]*>)?\(/gm
const BYTES_MAX = 1 << 28

/** Reads a version out of git; untracked files do not count. */
function countsOf(commit: string): Counts {
  const list = git('ls-tree', '-r', '--name-only', commit, '--', ...FOLDERS).split('\n')
  const paths = list.filter((path) => path.endsWith('.ts') && !path.startsWith('test/bench/'))
  const texts = paths.map((path) => ({ path, text: git('show', `${commit}:${path}`) }))
  const inTests = texts.filter(({ path }) => /\.(test|suite)\.ts$/.test(path))
  return {
    files: inTests.length,
    tests: total(inTests, TEST),
    assertions: total(texts, ASSERTION),
  }
}

function total(files: readonly { readonly text: string }[], pattern: RegExp): number {
  return files.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: BYTES_MAX })
}

const { positionals } = parseArgs({ allowPositionals: true })
const commits = positionals.length > 0 ? positionals : ['HEAD']
const rows = commits.map((commit) => ({ commit, ...countsOf(commit) }))
console.table(rows)
const [before, after] = rows
if (before !== undefined && after !== undefined)
  for (const what of ['files', 'tests', 'assertions'] as const)
    if (after[what] < before[what]) {
      console.error(`${what}: ${before[what] - after[what]} fewer`)
      process.exitCode = 1
    }
