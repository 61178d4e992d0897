import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { Program, removeFolder, temporaryFolder } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'

/** One run of one file, as a line of the results. */
interface Run {
  readonly file: string
  readonly passed: boolean
  readonly seconds: number
  /** Failed tests with a part of the reason; the file itself if it could not run. */
  readonly failed: readonly { readonly name: string; readonly why: string }[]
  readonly at: string
}

/** Vitest's JSON report of a file. */
interface Report {
  readonly testResults: readonly {
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const WHY_CHARS_MAX = 400
/** A busy loop that ends with its parent. */
const LOOP = 'const parent = process.ppid; while (process.ppid === parent);'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    files: { type: 'string', multiple: true, default: ['test/{integration,e2e}/*.test.ts'] },
    loops: { type: 'string', default: '2' },
    minutes: { type: 'string', default: 'Infinity' },
    results: { type: 'string', default: 'coverage/flaky.jsonl' },
  },
})
const results = join(ROOT, values.results)
const untilMs = performance.now() + Number(values.minutes) * 60_000
const running = new Set<Program>()
let isStopped = false

function started(program: Program): Program {
  running.add(program)
  void program.exit.finally(() => running.delete(program))
  return program
}

/** The recorded runs: a restart continues after them. */
function noted(): readonly Run[] {
  if (!existsSync(results)) return []
  const lines = readFileSync(results, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Run)
}

/** The file with the fewest runs, among several the quickest; null if all files have had their runs. */
function nextOf(files: readonly string[]): string | null {
  const runs = noted()
  const standing = files.map((file) => {
    const own = runs.filter((run) => run.file === file)
    return { file, rounds: own.length, seconds: own.at(-1)?.seconds ?? 0 }
  })
  const waiting = standing.filter(({ rounds }) => rounds < Number(values.rounds))
  waiting.sort((a, b) => a.rounds - b.rounds || a.seconds - b.seconds)
  return waiting[0]?.file ?? null
}

async function runOf(file: string): Promise<Run> {
  const folder = temporaryFolder()
  const report = join(folder, 'report.json')
  const args = ['run', file, '--reporter=json', `--outputFile=${report}`]
  const startedMs = performance.now()
  const vitest = started(new Program({ entry: join(ROOT, 'node_modules/vitest/vitest.mjs'), args, cwd: ROOT }))
  const { code, stderr } = await vitest.finished()
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10
  const failed = existsSync(report) ? failuresIn(JSON.parse(readFileSync(report, 'utf8')) as Report) : []
  removeFolder(folder)
  const unnamed = code === 0 || failed.length > 0 ? [] : [{ name: file, why: stderr.slice(-WHY_CHARS_MAX) }]
  return { file, passed: code === 0, seconds, failed: [...failed, ...unnamed], at: new Date().toISOString() }
}

function failuresIn({ testResults }: Report): Run['failed'] {
  return testResults.flatMap(({ status, message, assertionResults }) => {
    const tests = assertionResults.filter((one) => one.status === 'failed')
    if (tests.length === 0)
      return status === 'failed' ? [{ name: 'the file', why: message.slice(0, WHY_CHARS_MAX) }] : []
    return tests.map(({ fullName, failureMessages }) => {
      const why = failureMessages.join('\n').slice(0, WHY_CHARS_MAX)
      return { name: fullName, why }
    })
  })
}

async function stop(): Promise<void> {
  isStopped = true
  await Promise.all([...running].map((program) => program.end('SIGTERM')))
}

/** Prints the failures of each file that failed, and how many of its rounds failed. */
function printSummary(files: readonly string[]): void {
  for (const file of files) {
    const own = noted().filter((run) => run.file === file)
    const failures = own.filter(({ passed }) => !passed)
    if (failures.length > 0) console.log(`${file}: ${failures.length} of ${own.length} rounds failed`)
    for (const { name, why } of failures.flatMap(({ failed }) => failed)) console.log(`  ${name}\n    ${why}`)
  }
}

const files = globSync(values.files, { cwd: ROOT }).map((file) => relative(ROOT, join(ROOT, file)))
if (files.length === 0) throw new Error(`no file is called ${values.files}`)
mkdirSync(dirname(results), { recursive: true })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
for (let i = 0; i < Number(values.loops); i++) started(new Program({ flags: ['--eval'], entry: LOOP, args: [] }))
while (!isStopped && performance.now() < untilMs) {
  const file = nextOf(files)
  if (file === null) break
  const run = await runOf(file)
  // An aborted run proves nothing.
  if (isStopped) break
  appendFileSync(results, `${JSON.stringify(run)}\n`)
  console.log(`${run.passed ? 'passed' : 'FAILED'} ${run.seconds} s ${file}`)
}
await stop()
printSummary(files)
