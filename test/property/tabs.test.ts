import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../support/runs.ts'
import { TabWalk } from '../support/tab-walk.ts'

it('a ledger of tabs agrees with its model: every tab ends once, and what was paid, burned and returned is its deposit', () => {
  const codes = new Set<number>()
  let ended = 0
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const walk = new TabWalk(seed)
      for (let i = 0; i < 60; i++) walk.block(8)
      expect(walk.ledger.broken()).toEqual([])
      for (const code of walk.counts.codes.keys()) codes.add(code)
      ended += walk.counts.ended
    }),
    { numRuns: runs(12) },
  )
  if (runs(12) >= 12) {
    expect([...codes].sort((a, b) => a - b)).toEqual([0, 35, 36, 37, 38, 39, 40, 46])
    expect(ended).toBeGreaterThan(200)
  }
})
