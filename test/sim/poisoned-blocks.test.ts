import { describe, expect, it } from 'vitest'
import { HASHES_PER_BLOCK } from '../support/sim/cheap-network.ts'
import type { NodePlan, Plan } from '../support/sim/plan.ts'
import { verdictOn } from '../support/sim/verdict.ts'
import { World } from '../support/sim/world.ts'

const HONEST = 10
const ATTACKERS = 3
const SPACING_S = 3
const BLOCKS = 40
/** Virtual time for two hops over the longest links, without waiting for an attacker. */
const DELAY_MS_MAX = 500

function planOf(seed: number): Plan {
  const skew = { offsetMs: 0, driftPpm: 0 }
  const hashesPerSecond = Number(HASHES_PER_BLOCK) / SPACING_S / HONEST
  const honest = Array.from(
    { length: HONEST },
    (_, i): NodePlan => ({ name: `n${i}`, skew, hashesPerSecond, outboundWanted: 4 }),
  )
  const attackers = Array.from(
    { length: ATTACKERS },
    (_, i): NodePlan => ({ name: `x${i}`, skew, hashesPerSecond: 0, outboundWanted: HONEST, lie: 'poison' }),
  )
  const weather = { latencyMs: [10, 120], jitterMs: 10, bytesPerMs: 2_000, requestLoss: 0, gossipLoss: 0 } as const
  return { seed, nodes: [...honest, ...attackers], weather, incidents: [], transactionsPerSecond: 1, blocks: BLOCKS }
}

/**
 * Virtual ms from the first time that an honest node connected a block to each further time. The list is not sorted and
 * grows during the run.
 */
function delaysOf(world: World): readonly number[] {
  const firstMs = new Map<string, number>()
  const delays: number[] = []
  for (const node of world.honest) {
    node.onStart(({ life }) =>
      life.chain.onHeadChange(({ connected }) => {
        for (const { id } of connected) {
          const first = firstMs.get(id)
          if (first === undefined) firstMs.set(id, world.time.nowMs)
          else delays.push(world.time.nowMs - first)
        }
      }),
    )
  }
  return delays
}

describe('attackers everywhere that publish each header with junk short ids before the true message', () => {
  it.each([5, 11])('hold up no block and split no miners (seed %i)', async (seed) => {
    const world = new World(planOf(seed))
    const delays = delaysOf(world)
    await world.run()
    const { wrong, stale, height, deepest, quarrels } = await verdictOn(world)
    const sorted = delays.toSorted((a, b) => a - b)
    const p95 = sorted[Math.floor(0.95 * sorted.length)] as number
    console.log(`  seed ${seed}: ${height} blocks, ${stale} stale, p95 ${Math.round(p95)} ms, deepest ${deepest}`)
    expect([wrong, quarrels]).toEqual([[], 0])
    expect(p95).toBeLessThan(DELAY_MS_MAX)
    expect(stale).toBeLessThanOrEqual(height / 20)
    expect(world.network.partings.filter(({ from }) => from.startsWith('n'))).toEqual([])
  })
})
