import { describe, expect, it } from 'vitest'
import { KEPT_BLOCKS, lackOf } from '../../../../src/storage/pruning.ts'

const ALL = { bodiesFrom: 0, witnessesFrom: 0 }
const TOP = 1_000_000

describe('what a folder lacks of its setting', () => {
  it('is nothing where all is held that is asked for', () => {
    expect(lackOf({ mode: 'archive', witnessDays: 30 }, ALL, TOP)).toBeNull()
    expect(
      lackOf({ mode: 'full', witnessDays: 30 }, { bodiesFrom: 0, witnessesFrom: TOP - 30 * 28_800 }, TOP),
    ).toBeNull()
    const recent = { bodiesFrom: TOP - KEPT_BLOCKS, witnessesFrom: TOP - KEPT_BLOCKS }
    expect(lackOf({ mode: 'pruned', witnessDays: 30 }, recent, TOP)).toBeNull()
  })

  it('is told apart by bodies and witnesses', () => {
    expect(lackOf({ mode: 'archive', witnessDays: 30 }, { bodiesFrom: 0, witnessesFrom: 7 }, TOP)).toEqual({
      mode: 'archive',
      witnessesMissingBelow: 7,
      wanted: ALL,
    })
    const pruned = { bodiesFrom: 900_000, witnessesFrom: 900_000 }
    expect(lackOf({ mode: 'full', witnessDays: 30 }, pruned, TOP)).toEqual({
      mode: 'full',
      bodiesMissingBelow: 900_000,
      witnessesMissingBelow: 900_000,
      wanted: { bodiesFrom: 0, witnessesFrom: TOP - 30 * 28_800 },
    })
  })
})
