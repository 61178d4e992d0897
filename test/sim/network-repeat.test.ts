import { describe, expect, it } from 'vitest'
import { type Plan, planOf } from '../support/sim/plan.ts'
import { verdictOn } from '../support/sim/verdict.ts'
import { World } from '../support/sim/world.ts'

const SIZE = { nodes: 8, blocks: 30 }
const SEED = firstWithEverything()

/** The lowest seed with liars, a split and crashes. */
function firstWithEverything(): number {
  for (let seed = 1; ; seed++) {
    const { incidents, nodes } = planOf(seed, SIZE)
    const kinds = new Set(incidents.map(({ kind }) => kind))
    if (kinds.size === 2 && nodes.some(({ lie }) => lie !== undefined)) return seed
  }
}

async function ran(plan: Plan): Promise<World> {
  const world = new World(plan)
  await world.run()
  return world
}

describe('a simulation', () => {
  it('is the same for the same seed, event by event, and another for another', async () => {
    const plan = planOf(SEED, SIZE)
    const [first, second] = [await verdictOn(await ran(plan)), await verdictOn(await ran(plan))]
    expect(first.wrong).toEqual([])
    expect(second).toEqual(first)
    const other = await verdictOn(await ran(planOf(SEED + 1, SIZE)))
    expect(other.digest).not.toBe(first.digest)
  })

  it('is found wrong if nodes disagree or an honest one is banned', async () => {
    const world = await ran({ ...planOf(SEED, SIZE), incidents: [] })
    expect((await verdictOn(world)).wrong).toEqual([])
    const [lonely, other] = world.honest
    if (lonely === undefined || other === undefined) throw new Error('no node is honest')
    world.network.split((name) => (name === lonely.name ? 1 : 0))
    other.life.endpoint.disconnect(lonely.life.endpoint.self, 'a whim', true)
    const height = world.height()
    for (const { life } of world.honest) life.miner.start()
    await world.time.pass(120_000)
    expect(world.height()).toBeGreaterThan(height)
    const { wrong } = await verdictOn(world)
    expect(wrong).toEqual([expect.stringContaining('heads differ'), expect.stringContaining('a whim')])
  })
})
