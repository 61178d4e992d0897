import { expect, it } from 'vitest'
import { TabTown } from '../support/sim/tab-town.ts'
import { tabVerdictOn } from '../support/sim/tab-verdict.ts'

/** Payers end their tabs themselves, so that the run is short; `tabs-long` waits for expiries too. */
const SIZE = { busyBlocks: 40, tabs: 8, splits: 0.06, ends: ['close', 'refund'], floodTips: [250n] } as const
const SEED = 3

it(`tabs come through splits, reorganisations and a flood (seed ${SEED})`, async () => {
  const town = new TabTown(SEED, SIZE)
  try {
    await town.run()
    const { wrong, ...figures } = await tabVerdictOn(town)
    console.log(`  seed ${SEED}: ${JSON.stringify(figures)}`)
    expect(wrong).toEqual([])
    expect(figures.calls).toBeGreaterThan(50)
    expect(Math.min(figures.deepest, figures.floodedBlocks, figures.undone.tab_claim ?? 0)).toBeGreaterThan(0)
  } finally {
    await town.close()
  }
})
