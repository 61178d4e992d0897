import { spawn } from 'node:child_process'
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

/** Calls on tabs through two replicas, 64 at once over 8 tabs, and bare durable writes in groups of the same size. */
export async function benchTabs(): Promise<readonly BenchRow[]> {
  const server = await PostgresServer.start()
  const calls = summed(await Promise.all(REPLICAS.map((name) => writer(server, ['calls', name, AT_ONCE, TABS]))))
  const size = Math.max(1, Math.round(calls.count / calls.groups))
  const rows = summed(await Promise.all(REPLICAS.map((name) => writer(server, ['rows', name, size, TABS]))))
  await server.remove()
  const ratio = `${(calls.perSecond / rows.perSecond).toFixed(2)} of the bare writes`
  return [
    factRow('paid calls on tabs in PostgreSQL', `${text(calls)}; ${ratio}`),
    factRow(`bare durable rows in groups of ${size}`, text(rows)),
  ]
}

async function writer(
  server: PostgresServer,
  [what, name, atOnce, tabs]: readonly (string | number)[],
): Promise<Written> {
  const args = [ENTRY, what, server.url(), name, atOnce, tabs].map(String)
  const child = spawn(PINNED_NODE, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  let written = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    written += part
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await setTimeout(SECONDS * 1_000)
  child.stdin.end()
  await ended
  return JSON.parse(written) as Written
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

function text({ perSecond, count, groups, p50Ms, p99Ms }: Summed): string {
  const group = (count / groups).toFixed(1)
  return `${Math.round(perSecond)}/s in groups of ${group}, one in ${p50Ms.toFixed(1)} ms (p50), ${p99Ms.toFixed(1)} ms (p99)`
}
