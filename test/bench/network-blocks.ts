import { sendTimed } from './http-load.ts'
import { percentile, type SignedLoad, signLoad, waitUntil } from './network-load.ts'
import { mineByHand } from './network-mining.ts'
import { BenchNodes, metricsOf, type NodeRecord } from './network-nodes.ts'
import { type BenchRow, factRow, nowMs, ratioRow, round, valueRow } from './report.ts'

const NODES = 5
/** Transactions in a block that is about full. */
const PER_BLOCK = 380
const KIND = { accounts: 2_000, senders: PER_BLOCK }
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20)
const CONNECTIONS = 8
const GOAL_MS = 150
const GOAL_SHARE = 0.95
const SETTLE_MS = 1_500
const WAITING = 'farthing_mempool_transactions'
const HEIGHT = 'farthing_height'

/** How nodes completed compact blocks: from the mempool alone, or by asking. The miner's node is not counted. */
interface Assembled {
  readonly fromPool: number
  readonly asked: number
}

/** Five processes in a line with equal mempools: how long a full block takes from one end to the other. */
export async function benchNetworkBlocks(): Promise<readonly BenchRow[]> {
  const [first, ...later] = await signLoad(KIND, ROUNDS + 1)
  const nodes = new BenchNodes()
  try {
    await nodes.startMany(
      NODES,
      () => KIND,
      (i) => (i === 0 ? [] : [i - 1]),
    )
    // First transactions carry keys, so that a block holds half as many.
    const keys = first as readonly SignedLoad[]
    const half = PER_BLOCK / 2
    for (const part of [keys.slice(0, half), keys.slice(half)]) await mineRound(nodes, part)
    const before = await assembledBy(nodes)
    const submittedMs: number[] = []
    const cpuBefore = nodes.cpuMs()
    for (const load of later) submittedMs.push(await mineRound(nodes, load))
    const cpuMs = (nodes.cpuMs() - cpuBefore) / (ROUNDS * PER_BLOCK)
    const after = await assembledBy(nodes)
    const assembled = { fromPool: after.fromPool - before.fromPool, asked: after.asked - before.asked }
    return rowsOf(await nodes.stop(), submittedMs, { assembled, cpuMs })
  } finally {
    await nodes.close()
  }
}

/** Fills all mempools, mines their transactions into one block, and waits until all nodes have it. Returns the time of its submission. */
async function mineRound(nodes: BenchNodes, load: readonly SignedLoad[]): Promise<number> {
  const { server, url } = nodes.at(0)
  await sendTimed(
    server.port,
    load.map(({ request }) => ({ request, dueMs: 0 })),
    CONNECTIONS,
  )
  await nodes.awaitAll('all mempools hold everything', WAITING, (count) => count === load.length)
  // The node builds a template in its own time, once it knows that a miner is there.
  await waitUntil(nowMs() + SETTLE_MS)
  const { height, submittedMs } = await mineByHand(url, load.length)
  await waitUntil(nowMs() + SETTLE_MS)
  await nodes.awaitAll(`block ${height} is everywhere`, HEIGHT, (at) => at >= height)
  return submittedMs
}

function rowsOf(
  records: readonly NodeRecord[],
  submittedMs: readonly number[],
  { assembled: { fromPool, asked }, cpuMs }: { readonly assembled: Assembled; readonly cpuMs: number },
): readonly BenchRow[] {
  const arrivals = records.map(({ heads }) => new Map(heads.map(([height, , ms]) => [height, ms])))
  const full = records[0]?.heads.filter(([, transactions]) => transactions === PER_BLOCK) ?? []
  if (full.length !== ROUNDS) throw new Error(`${full.length} of ${ROUNDS} blocks were full`)
  const delays = (node: number): readonly number[] =>
    full.map(([height, , ms]) => (arrivals[node]?.get(height) ?? Number.POSITIVE_INFINITY) - ms)
  const own = full.map(([, , ms], i) => ms - (submittedMs[i] as number))
  const last = delays(NODES - 1)
  const what = `full block (${PER_BLOCK} transactions) over ${NODES - 1} hops, from head to head`
  const hops = records.slice(1).map((_, i) => `${i + 1}: ${round(percentile(delays(i + 1), 0.5))}`)
  const share = fromPool / (fromPool + asked)
  return [
    valueRow(`${what}, p95 of ${ROUNDS}`, percentile(last, 0.95), 'ms', { most: GOAL_MS }),
    factRow(
      `${what}`,
      `p50 ${round(percentile(last, 0.5))} ms; p50 by hops ${hops.join(', ')} ms; ${round(percentile(own, 0.5))} ms at its miner before`,
    ),
    ratioRow(
      'compact blocks put together with nothing asked for',
      `${fromPool} of ${fromPool + asked}`,
      share,
      GOAL_SHARE,
    ),
    factRow('CPU of all nodes for a transaction, admission and block', `${round(cpuMs)} ms`),
  ]
}

async function assembledBy(nodes: BenchNodes): Promise<Assembled> {
  let [fromPool, asked] = [0, 0]
  for (const node of nodes.nodes.slice(1)) {
    const metrics = await metricsOf(node)
    const count = (event: string): number => metrics.get(`farthing_relay_blocks_total{event="${event}"}`) ?? 0
    fromPool += count('fromPool')
    asked += count('completed') + count('wholeBodies')
  }
  return { fromPool, asked }
}
