import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { type BenchRow, factRow } from '../../bench/report.ts'
import { PINNED_NODE } from '../../support/processes.ts'
import { PostgresServer } from '../replicas/postgres.ts'

const SECONDS = Number(process.env.BENCH_SECONDS ?? 10)
const REPLICAS = ['a', 'b']
/** Calls under way of each replica, and the tabs that they share. */
const AT_ONCE = 32
const TABS = 8
const ENTRY = new URL('tab-writer-entry.ts', import.meta.url).pathname

interface Written {
  readonly count: number
  readonly groups: number
  readonly seconds: number
  readonly times: readonly number[]
}

/** Calls on tabs through the rails of two replicas, 64 at once over 8 tabs, and bare durable writes in groups of the same size. */
export async function benchTabs(): Promise<readonly BenchRow[]> {
  const server = await PostgresServer.start()
  const calls = summed(await written(server, ['calls', AT_ONCE, TABS]))
  const size = Math.max(1, Math.round(calls.count / calls.groups))
  const rows = summed(await written(server, ['rows', size, TABS]))
  await server.remove()
  const ratio = `${(calls.perSecond / rows.perSecond).toFixed(2)} of the bare writes`
  return [
    factRow('paid calls on tabs, two replicas, PostgreSQL', `${told(calls)}; ${ratio}`),
    factRow(`bare durable rows in groups of ${size}`, told(rows)),
  ]
}

/** What the replicas have written in {@link SECONDS}. */
async function written(
  server: PostgresServer,
  [what, ...rest]: readonly [string, number, number],
): Promise<readonly Written[]> {
  const writers = await Promise.all(REPLICAS.map((name) => writer([what, server.url(), name, ...rest].map(String))))
  for (const { stdin } of writers) stdin.write('go')
  const texts = writers.map(({ stdout }) => text(stdout))
  await setTimeout(SECONDS * 1_000)
  for (const { stdin } of writers) stdin.end()
  return (await Promise.all(texts)).map((each) => JSON.parse(each) as Written)
}

/** A process that is ready to write. */
async function writer(args: readonly string[]) {
  const child = spawn(PINNED_NODE, [ENTRY, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

type Summed = ReturnType<typeof summed>

function summed(written: readonly Written[]) {
  const times = written.flatMap((one) => one.times).sort((a, b) => a - b)
  const at = (share: number): number => times[Math.floor(times.length * share)] as number
  return {
    count: written.reduce((sum, { count }) => sum + count, 0),
    groups: written.reduce((sum, { groups }) => sum + groups, 0),
    perSecond: written.reduce((sum, { count, seconds }) => sum + count / seconds, 0),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

function told({ perSecond, count, groups, p50Ms, p99Ms }: Summed): string {
  const group = (count / groups).toFixed(1)
  return `${Math.round(perSecond)}/s in groups of ${group}, one in ${p50Ms.toFixed(1)} ms (p50), ${p99Ms.toFixed(1)} ms (p99)`
}
