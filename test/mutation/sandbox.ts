import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/source-tree.ts'

export const MUTATED = 'amm/math.ts'

/** The tests that must notice a mutant, and the files they need. */
const COPIED = [
  MUTATED,
  'consensus',
  'test/support',
  'test/unit/amm/math.test.ts',
  'test/property/amm-math.test.ts',
  'test/property/amm-actors.test.ts',
  'package.json',
]

const VITEST_CONFIG = `export default {
  test: {
    include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    bail: 1,
    reporters: ['json'],
    outputFile: 'report.json',
  },
}
`

/** The compiler parses only the mutated file. */
const COMPILER_CONFIG = JSON.stringify({
  compilerOptions: { module: 'nodenext', target: 'esnext', allowImportingTsExtensions: true, noEmit: true, types: [] },
  files: [MUTATED],
})

/** A mutant that runs longer counts as an endless loop. */
const TIMEOUT_MS = 20_000

/** Whether the tests noticed a mutant, and which test did. */
export type Verdict = { readonly killed: false } | { readonly killed: true; readonly by: string }

/** The part of Vitest's report that is read. */
interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** A temporary copy of the file, its tests and their imports, for one mutant at a time. */
export class Sandbox {
  readonly folder = mkdtempSync(join(tmpdir(), 'farthing-mutants-'))
  /** The unchanged file. */
  readonly original: string

  constructor() {
    for (const path of COPIED) cpSync(join(ROOT, path), join(this.folder, path), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'))
    writeFileSync(join(this.folder, 'vitest.config.ts'), VITEST_CONFIG)
    writeFileSync(join(this.folder, 'tsconfig.json'), COMPILER_CONFIG)
    this.original = readFileSync(join(this.folder, MUTATED), 'utf8')
  }

  /** Runs the tests in another process with `text` as the mutated file, until a test fails. */
  async judge(text: string): Promise<Verdict> {
    writeFileSync(join(this.folder, MUTATED), text)
    rmSync(join(this.folder, 'report.json'), { force: true })
    const code = await this.#runTests()
    if (code === 0) return { killed: false }
    return { killed: true, by: code === null ? `the limit of ${TIMEOUT_MS / 1_000} s` : this.#firstFailure() }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The exit code of the tests; null if they were killed by the timeout. */
  #runTests(): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const vitest = join(this.folder, 'node_modules/vitest/vitest.mjs')
      // A separate process group, so that a worker in an endless loop ends with its parent.
      const child = spawn(process.execPath, [vitest, 'run'], { cwd: this.folder, stdio: 'ignore', detached: true })
      const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), TIMEOUT_MS)
      child.once('error', reject)
      child.once('exit', (code) => {
        clearTimeout(timer)
        resolve(code)
      })
    })
  }

  #firstFailure(): string {
    const { testResults } = JSON.parse(readFileSync(join(this.folder, 'report.json'), 'utf8')) as Report
    for (const { assertionResults } of testResults) {
      const failed = assertionResults.find(({ status }) => status === 'failed')
      if (failed !== undefined) return failed.fullName
    }
    const crashed = testResults.find(({ message }) => message !== '')
    if (crashed === undefined) throw new Error('the tests ended badly and no test says why')
    return `no test: ${crashed.message.split('\n')[0]}`
  }
}
