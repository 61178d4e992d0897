import { until } from '../support/processes.ts'
import { sendTimed } from './http-load.ts'
import { randomTimes, signLoad } from './network-load.ts'
import { MINER } from './network-mining.ts'
import { type BenchNode, BenchNodes, metricsOf, type NodeRecord, status } from './network-nodes.ts'
import { residentMb } from './processes.ts'
import { type BenchRow, factRow, nowMs, round, valueRow } from './report.ts'

const NODES = 5
const SENDERS = 600
const KIND = { accounts: 2_000, senders: SENDERS, realWork: true }
const PER_SECOND = 60
/** The goal is five minutes. The default is shorter. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 90)
const MINERS = 1
const CONNECTIONS = 8
const GOAL_MS = 50
const TOTAL = 'farthing_transactions_total'
const WAITING = 'farthing_mempool_transactions'
const DELAY = 'farthing_event_loop_delay_seconds'

/**
 * Five processes under steady load, one of them mining with the devnet's real work. All transactions must be mined, and
 * no event loop may be held up.
 */
export async function benchNetworkSustained(): Promise<readonly BenchRow[]> {
  const count = PER_SECOND * SECONDS
  const load = (await signLoad(KIND, Math.ceil(count / SENDERS))).flat().slice(0, count)
  const nodes = new BenchNodes()
  try {
    await nodes.startMany(
      NODES,
      (i) => ({ ...KIND, flags: i < MINERS ? ['--mine-threads', '1', '--mine-address', MINER] : [] }),
      // Each node dials the two before it.
      (i) => [i - 1, i - 2].filter((other) => other >= 0),
    )
    const reserved = await totalOf(nodes.at(0))
    // A scrape begins the time over which delays are measured.
    for (const node of nodes.nodes) await metricsOf(node)
    const [startMs, cpuBefore] = [nowMs() + 500, nodes.cpuMs()]
    await sendToAll(
      nodes.nodes,
      load.map(({ request }) => request),
      startMs,
    )
    const tookMs = nowMs() - startMs
    const cpuMs = nodes.cpuMs() - cpuBefore
    const delays = await Promise.all(nodes.nodes.map(async (node) => delayMs(await metricsOf(node))))
    const memory = nodes.nodes.map(({ server }) => Math.round(residentMb(server.pid)))
    const mined = await awaitMined(nodes, reserved + count)
    const records = await nodes.stop()
    return rowsOf({ count, tookMs, cpuMs, delays, memory, mined: mined - reserved }, records)
  } finally {
    await nodes.close()
  }
}

interface Sustained {
  readonly count: number
  readonly tookMs: number
  readonly cpuMs: number
  /** The 99th percentile at each node. */
  readonly delays: readonly number[]
  readonly memory: readonly number[]
  /** The fewest sent transactions in any node's chain. */
  readonly mined: number
}

function rowsOf(
  { count, tookMs, cpuMs, delays, memory, mined }: Sustained,
  records: readonly NodeRecord[],
): readonly BenchRow[] {
  const rate = (count * 1_000) / tookMs
  const what = `${NODES} nodes, ${PER_SECOND} tx/s for ${SECONDS} s, one mining`
  const heights = records.map(({ heads }) => heads.length)
  return [
    valueRow(`${what}: sent`, rate, 'tx/s', { least: PER_SECOND * 0.98 }),
    valueRow(`${what}: mined, of ${count}`, mined, 'transactions', { least: count }),
    valueRow(`${what}: event-loop delay p99, worst node`, Math.max(...delays), 'ms', { most: GOAL_MS }),
    factRow('the same: event-loop delay p99 of each', `${delays.map(round).join(', ')} ms`),
    factRow('the same: resident memory of each', `${memory.join(', ')} MB`),
    factRow('the same: heads of each, CPU of all', `${heights.join(', ')}; ${round(cpuMs / tookMs)} cores`),
  ]
}

/** Every sender uses one node, so that its transactions arrive in order. */
async function sendToAll(nodes: readonly BenchNode[], requests: readonly Buffer[], startMs: number): Promise<void> {
  const times = randomTimes(requests.length, PER_SECOND)
  const timed = requests.map((request, i) => ({ request, dueMs: startMs + (times[i] as number) }))
  await Promise.all(
    nodes.map(({ server }, node) =>
      sendTimed(
        server.port,
        timed.filter((_, i) => (i % SENDERS) % nodes.length === node),
        CONNECTIONS,
      ),
    ),
  )
}

/** Waits until all mempools are empty and all nodes agree. Returns the fewest transactions in any node's chain. */
async function awaitMined(nodes: BenchNodes, total: number): Promise<number> {
  const totals = async (): Promise<readonly number[]> => Promise.all(nodes.nodes.map(totalOf))
  await nodes.awaitAll('everything is mined', WAITING, (waiting) => waiting === 0)
  await until('every chain holds everything', async () => (await totals()).every((mined) => mined >= total), {
    ms: 30_000,
  }).catch(() => {})
  await until('all have one head', async () => {
    const heads = await Promise.all(nodes.nodes.map(async (node) => (await status(node)).blockId))
    return new Set(heads).size === 1
  })
  return Math.min(...(await totals()))
}

async function totalOf(node: BenchNode): Promise<number> {
  return (await metricsOf(node)).get(TOTAL) ?? 0
}

function delayMs(metrics: ReadonlyMap<string, number>): number {
  return (metrics.get(`${DELAY}{quantile="0.99"}`) ?? Number.POSITIVE_INFINITY) * 1_000
}
