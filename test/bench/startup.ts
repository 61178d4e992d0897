import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { PINNED_NODE, removeFolder, temporaryFolder } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import { cpuMicros, residentMb, startServer } from './processes.ts'
import { type BenchRow, factRow, printTable, valueRow } from './report.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const IDLE_SECONDS = Number(process.env.BENCH_SECONDS ?? 30)
const LAUNCHER = join(ROOT, 'src/farthing.cjs')
const SOURCES = join(ROOT, 'src/main.ts')

/** Cost of a start: wall time, and CPU time of all processors. */
interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
}

/**
 * Cost of starting commands and nodes, on a new folder and on one with a chain, and the memory at rest. An empty Node
 * and the program run from its sources are measured for comparison. Each time is the least of several runs: other work
 * only adds to it.
 */
export async function benchStartup(): Promise<readonly BenchRow[]> {
  execFileSync(PINNED_NODE, [join(ROOT, 'src/package/build-node.ts')], { stdio: 'inherit' })
  return [...commandRows(), ...(await nodeRows('node', LAUNCHER)), ...(await sourceRows()), ...(await memoryRows())]
}

function commandRows(): readonly BenchRow[] {
  return [
    ...rowsOf('node -e 0', least(commandCosts(['-e', '0']))),
    ...rowsOf('farthing --version', least(commandCosts([LAUNCHER, '--version'])), 150),
    ...rowsOf('farthing help', least(commandCosts([LAUNCHER, 'help']))),
    ...rowsOf('farthing config print', least(commandCosts([LAUNCHER, 'config', 'print']))),
  ]
}

async function sourceRows(): Promise<readonly BenchRow[]> {
  return [
    ...rowsOf('sources: help', least(commandCosts([SOURCES, 'help']))),
    ...(await nodeRows('sources: node', SOURCES, {})),
  ]
}

async function nodeRows(
  what: string,
  entry: string,
  goals: { readonly first?: number; readonly again?: number } = { first: 1_800, again: 1_000 },
): Promise<readonly BenchRow[]> {
  const first: Cost[] = []
  const again: Cost[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const folder = temporaryFolder()
    first.push(await startCost(entry, folder))
    again.push(await startCost(entry, folder))
    removeFolder(folder)
  }
  return [
    ...rowsOf(`${what}, first start to ready`, least(first), goals.first),
    ...rowsOf(`${what}, start on its folder to ready`, least(again), goals.again),
  ]
}

async function memoryRows(): Promise<readonly BenchRow[]> {
  const bare = execFileSync(PINNED_NODE, ['-p', 'process.memoryUsage.rss() / 1e6'])
  const rows = [factRow('memory of a Node that does nothing', `${Math.round(Number(bare))} MB`)]
  for (const threads of [1, 0]) {
    const folder = temporaryFolder()
    const { program, pid } = await startServer(LAUNCHER, startArgs(folder, threads))
    await setTimeout(IDLE_SECONDS * 1_000)
    const what = `memory of an idle node, ${threads} mining threads, after ${IDLE_SECONDS} s`
    rows.push(valueRow(what, residentMb(pid), 'MB', { most: 200 }))
    await program.end('SIGTERM')
    removeFolder(folder)
  }
  return rows
}

function startArgs(folder: string, threads: number): readonly string[] {
  const own = ['--data-dir', folder, '--rpc-port', '0', '--p2p-port', '0', '--p2p-mdns', 'false']
  return ['start', '--mine-threads', String(threads), ...own]
}

async function startCost(entry: string, folder: string): Promise<Cost> {
  const { program, pid, readyMs } = await startServer(entry, startArgs(folder, 1))
  const cpuMs = cpuMicros(pid) / 1_000
  await program.end('SIGTERM')
  return { wallMs: readyMs, cpuMs }
}

/** The shell reports the CPU time of its children. */
function commandCosts(args: readonly string[]): readonly Cost[] {
  return Array.from({ length: ROUNDS * 2 }, () => {
    const startedMs = performance.now()
    const script = '"$0" "$@" >/dev/null && times'
    const written = execFileSync('sh', ['-c', script, PINNED_NODE, ...args], { encoding: 'utf8' })
    const wallMs = performance.now() - startedMs
    const times = [...(written.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
    const cpuMs = times.reduce(
      (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1_000,
      0,
    )
    return { wallMs, cpuMs }
  })
}

function least(costs: readonly Cost[]): Cost {
  return {
    wallMs: Math.min(...costs.map(({ wallMs }) => wallMs)),
    cpuMs: Math.min(...costs.map(({ cpuMs }) => cpuMs)),
  }
}

function rowsOf(what: string, { wallMs, cpuMs }: Cost, most?: number): readonly BenchRow[] {
  const cpu = factRow('  CPU', `${Math.round(cpuMs)} ms`)
  return [most === undefined ? factRow(what, `${Math.round(wallMs)} ms`) : valueRow(what, wallMs, 'ms', { most }), cpu]
}

if (import.meta.main) printTable(await benchStartup())
