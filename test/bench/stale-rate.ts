import type { BlockId } from '../../consensus/primitives/ids.ts'
import { HASHES_PER_BLOCK } from '../support/sim/cheap-network.ts'
import type { Plan } from '../support/sim/plan.ts'
import type { SimNode } from '../support/sim/sim-node.ts'
import { World } from '../support/sim/world.ts'
import type { BenchRow } from './report.ts'

/** One-way latency of a link, ms. */
const LATENCIES_MS = [50, 100, 200, 500, 1_000, 2_000]
const MINERS = 10
const BLOCKS = 600
const SPACING_MS = 3_000
const SEED = 20_261_104
/** Allowed ratio of stale blocks to the bound given by the delay alone. Chance moves it by 0.1 or 0.2. */
const MOST = 1.3

/** Share of stale blocks by link latency: simulated whole nodes with ten equal miners. */
export async function benchStaleRate(): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  for (const latencyMs of LATENCIES_MS) rows.push(await measure(latencyMs))
  return rows
}

async function measure(latencyMs: number): Promise<BenchRow> {
  const world = new World(planOf(latencyMs))
  const delays = new Delays(world)
  await world.run()
  const found = world.nodes.reduce((sum, { mined }) => sum + mined, 0)
  const stale = (found - world.height()) / found
  const delayMs = delays.mean()
  // The chance that another miner finds a block before it hears of this one.
  const bound = 1 - Math.exp((-delayMs / SPACING_MS) * (1 - 1 / MINERS))
  return {
    what: `stale blocks at ${latencyMs} ms a link: ${Math.round(delayMs)} ms to another node on average (bound ${percent(bound)})`,
    figure: `${percent(stale)} of ${found}`,
    ratio: stale / bound,
    goal: `<= ${MOST} of the bound`,
    met: stale <= MOST * bound,
  }
}

function planOf(latencyMs: number): Plan {
  const hashesPerSecond = (Number(HASHES_PER_BLOCK) * 1_000) / SPACING_MS / MINERS
  const skew = { offsetMs: 0, driftPpm: 0 }
  return {
    seed: SEED + latencyMs,
    nodes: Array.from({ length: MINERS }, (_, i) => ({ name: `n${i}`, skew, hashesPerSecond, outboundWanted: 4 })),
    weather: { latencyMs: [latencyMs, latencyMs], jitterMs: 0, bytesPerMs: 10_000, requestLoss: 0, gossipLoss: 0 },
    incidents: [],
    transactionsPerSecond: 0.3,
    blocks: BLOCKS,
  }
}

/** Times from the finding of a block until it is in the other nodes' best chains. */
class Delays {
  readonly #firstMs = new Map<BlockId, number>()
  readonly #delays: number[] = []

  constructor(world: World) {
    for (const node of world.nodes) node.onStart((started) => this.#listen(started, world))
  }

  /** Mean of the times in milliseconds. */
  mean(): number {
    return this.#delays.reduce((sum, ms) => sum + ms, 0) / this.#delays.length
  }

  #listen({ life }: SimNode, { time }: World): void {
    life.chain.onHeadChange(({ connected, disconnected }) => {
      for (const { id } of connected) {
        const firstMs = this.#firstMs.get(id)
        if (firstMs === undefined) this.#firstMs.set(id, time.nowMs)
        // A node may adopt a block only when its own branch has lost. Then the time says nothing about the delivery.
        else if (disconnected.length === 0) this.#delays.push(time.nowMs - firstMs)
      }
    })
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
