import { expect, it } from 'vitest'
import { runs } from '../support/runs.ts'
import { TabWalk } from '../support/tab-walk.ts'
import { walkSeeds } from '../support/walk.ts'

/** With FARTHING_RUNS=10 it is a million. */
const OPERATIONS = 100_000

it('a hundred thousand transactions about tabs end as the model says', { timeout: 10_000_000 }, () => {
  const { base } = walkSeeds([], 0)
  const walk = new TabWalk(base)
  const most = runs(OPERATIONS)
  try {
    while (walk.counts.operations < most) walk.block(40)
  } catch (error) {
    throw new Error(`TEST_WALK_SEED=${base}, after ${walk.counts.operations} transactions`, { cause: error })
  }
  expect(walk.ledger.broken()).toEqual([])
  // About one transaction in ten ends a tab; the share moves a little with the seed.
  expect(walk.counts.ended).toBeGreaterThan(most / 12)
})
