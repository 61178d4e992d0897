import { expect, it } from 'vitest'
import { TabTown } from '../support/sim/tab-town.ts'
import { tabVerdictOn } from '../support/sim/tab-verdict.ts'

/** Tabs that payers end themselves, so that a run is short. `tabs-long` waits for expiries too. */
const SIZE = { busyBlocks: 50, tabs: 8, splits: 0.05, ends: ['close', 'refund'] } as const
const SEEDS = [1, 2]

it.each(SEEDS)('tabs come through splits, reorganisations and floods (seed %i)', async (seed) => {
  const town = new TabTown(seed, SIZE)
  try {
    await town.run()
    const { wrong, ...figures } = await tabVerdictOn(town)
    console.log(`  seed ${seed}: ${JSON.stringify(figures)}`)
    expect(wrong).toEqual([])
    expect(figures.calls).toBeGreaterThan(50)
    expect(figures.deepest).toBeGreaterThan(0)
  } finally {
    await town.close()
  }
})
