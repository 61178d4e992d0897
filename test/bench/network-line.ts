import type { TransactionMode } from '../../src/p2p/relay/transaction-relay.ts'
import { sendTimed } from './http-load.ts'
import { percentile, randomTimes, type SignedLoad, signLoad, waitUntil } from './network-load.ts'
import { mineByHand } from './network-mining.ts'
import { type BenchNode, BenchNodes, type NodeRecord } from './network-nodes.ts'
import { type BenchRow, factRow, nowMs, round, valueRow } from './report.ts'

const NODES = 5
const SENDERS = 200
const KIND = { accounts: 2_000, senders: SENDERS }
const PER_SECOND = 33
const SECONDS = Number(process.env.BENCH_SECONDS ?? 30)
const WARM_UP_PER_SECOND = 60
const BLOCK_EVERY_MS = 3_000
const CONNECTIONS = 16
const GOAL_MS = 30
const WAITING = 'farthing_mempool_transactions'

/** Figures of a line of nodes over one window of time. */
interface Measured {
  /** From the sending of a transaction to the first node until the last node admitted it. */
  readonly delaysMs: readonly number[]
  /** CPU time of all nodes for each transaction. */
  readonly cpuMs: number
  readonly window: readonly [fromMs: number, toMs: number]
}

/** Five processes in a line: how long a transaction takes from one end to the other in both relay modes, and what that costs. */
export async function benchNetworkLine(): Promise<readonly BenchRow[]> {
  const perSender = 1 + 2 * Math.ceil((PER_SECOND * SECONDS) / SENDERS)
  const [first, ...later] = await signLoad(KIND, perSender)
  const rows: BenchRow[] = []
  for (const mode of ['gossip', 'announce'] as const)
    rows.push(...(await measureLine(mode, first as readonly SignedLoad[], later.flat())))
  return rows
}

async function measureLine(
  mode: TransactionMode,
  first: readonly SignedLoad[],
  load: readonly SignedLoad[],
): Promise<readonly BenchRow[]> {
  const nodes = new BenchNodes()
  try {
    await nodes.startMany(
      NODES,
      () => ({ ...KIND, mode }),
      (i) => (i === 0 ? [] : [i - 1]),
    )
    const end = nodes.at(0)
    await sendAtRandom(end, first, WARM_UP_PER_SECOND)
    await nodes.awaitAll('the keys of all senders are everywhere', WAITING, (count) => count >= SENDERS)
    const half = PER_SECOND * SECONDS
    const quiet = await runWindow(nodes, load.slice(0, half))
    await mineByHand(end.url, 0)
    const mining = mineNowAndThen(end)
    const busy = await runWindow(nodes, load.slice(half, 2 * half))
    await mining.stop()
    const records = await nodes.stop()
    return rowsOf(mode, { quiet: quiet(records), busy: busy(records) }, records)
  } finally {
    await nodes.close()
  }
}

/** Sends the load. Returns a function that computes the figures from the nodes' records. */
async function runWindow(
  nodes: BenchNodes,
  load: readonly SignedLoad[],
): Promise<(records: readonly NodeRecord[]) => Measured> {
  const [fromMs, cpuBefore] = [nowMs(), nodes.cpuMs()]
  const sentMs = await sendAtRandom(nodes.at(0), load, PER_SECOND)
  const cpuMs = (nodes.cpuMs() - cpuBefore) / load.length
  const toMs = nowMs()
  // Late transactions get time to arrive.
  await waitUntil(toMs + 2_000)
  return (records) => {
    const admitted = new Map(records.at(-1)?.admissions)
    const delaysMs = load.map(
      ({ wtxId }, i) => (admitted.get(wtxId) ?? Number.POSITIVE_INFINITY) - (sentMs[i] as number),
    )
    return { delaysMs, cpuMs, window: [fromMs, toMs] }
  }
}

function sendAtRandom(
  { server }: BenchNode,
  load: readonly SignedLoad[],
  perSecond: number,
): Promise<readonly number[]> {
  const startMs = nowMs() + 100
  const times = randomTimes(load.length, perSecond)
  const timed = load.map(({ request }, i) => ({ request, dueMs: startMs + (times[i] as number) }))
  return sendTimed(server.port, timed, CONNECTIONS)
}

/** Mines blocks at the usual spacing; the nodes spend no core on it. */
function mineNowAndThen({ url }: BenchNode): { readonly stop: () => Promise<void> } {
  let stopped = false
  const loop = (async () => {
    for (let dueMs = nowMs() + BLOCK_EVERY_MS; !stopped; dueMs += BLOCK_EVERY_MS) {
      await waitUntil(dueMs)
      await mineByHand(url, 0)
    }
  })()
  return {
    stop: () => {
      stopped = true
      return loop
    },
  }
}

function rowsOf(
  mode: TransactionMode,
  { quiet, busy }: { readonly quiet: Measured; readonly busy: Measured },
  records: readonly NodeRecord[],
): readonly BenchRow[] {
  const what = `transaction over ${NODES - 1} hops by ${mode}, ${PER_SECOND} tx/s`
  const p99 = ({ delaysMs }: Measured): number => percentile(delaysMs, 0.99)
  const facts = ({ delaysMs, cpuMs, window }: Measured): string =>
    [
      `p50 ${round(percentile(delaysMs, 0.5))} ms`,
      `max ${round(Math.max(...delaysMs))} ms`,
      `${round(cpuMs)} ms CPU of all nodes a tx`,
      `${Math.round(writtenWithin(records, window) / delaysMs.length / (NODES - 1))} bytes a tx and link`,
    ].join(', ')
  return [
    valueRow(`${what}, p99`, p99(quiet), 'ms', { most: GOAL_MS }),
    factRow(`${what}`, facts(quiet)),
    valueRow(`${what}, p99 while blocks are mined and imported`, p99(busy), 'ms', { most: GOAL_MS }),
    factRow(`${what}, the same`, facts(busy)),
  ]
}

function writtenWithin(records: readonly NodeRecord[], [fromMs, toMs]: readonly [number, number]): number {
  const written = ({ traffic }: NodeRecord, untilMs: number): number =>
    traffic.findLast(([ms]) => ms <= untilMs)?.[2] ?? 0
  return records.reduce((sum, record) => sum + written(record, toMs) - written(record, fromMs), 0)
}
