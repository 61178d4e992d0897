import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { type Anchor, anchorAfter, targetAfter, unclampedTarget } from '../../../../consensus/block/difficulty.ts'
import type { Header } from '../../../../consensus/block/header.ts'
import { targetOfWork } from '../../../../consensus/block/pow.ts'
import { runs } from '../../../support/runs.ts'

const RULES = { ...LAUNCH_RULES.block, initialTarget: targetOfWork(2n ** 16n) }
const SLEEPY = { ...RULES, anchorResetGapMs: 120_000 }
const ANCHOR: Anchor = { height: 1, timeMs: 1_000_000_000, target: targetOfWork(2n ** 24n) }
const HALF_LIFE = RULES.halfLifeMs

/** A point `blocks` after the anchor, `behindMs` later than it should be. */
function point(blocks: number, behindMs: number) {
  return { height: ANCHOR.height + blocks, timeMs: ANCHOR.timeMs + blocks * RULES.spacingMs + behindMs }
}

function blockAfter(parent: { readonly height: number; readonly timeMs: number }, afterMs: number): Header {
  const target = targetAfter(ANCHOR, parent, RULES)
  return { height: parent.height + 1, timeMs: parent.timeMs + afterMs, target } as Header
}

describe('the target of a block', () => {
  it('is the network’s initial target for block 1, whatever the time', () => {
    expect(targetAfter(null, { height: 0, timeMs: 0 }, RULES)).toBe(RULES.initialTarget)
    expect(targetAfter(null, { height: 0, timeMs: 1e15 }, RULES)).toBe(RULES.initialTarget)
  })

  it('is the anchor’s while blocks keep to their time', () => {
    for (const blocks of [0, 1, 1_000_000]) expect(targetAfter(ANCHOR, point(blocks, 0), RULES)).toBe(ANCHOR.target)
  })

  it('doubles with every half-life behind and halves with every one ahead, exactly', () => {
    for (const n of [1, 2, 7]) {
      expect(unclampedTarget(ANCHOR, point(50, n * HALF_LIFE), RULES)).toBe(ANCHOR.target << BigInt(n))
      expect(unclampedTarget(ANCHOR, point(50, -n * HALF_LIFE), RULES)).toBe(ANCHOR.target >> BigInt(n))
    }
  })

  it('approximates a power of two within two parts in ten thousand', () => {
    for (let behind = -HALF_LIFE; behind <= HALF_LIFE; behind += 997) {
      const found = Number(unclampedTarget(ANCHOR, point(9, behind), RULES)) / Number(ANCHOR.target)
      expect(Math.abs(found / 2 ** (behind / HALF_LIFE) - 1)).toBeLessThan(2e-4)
    }
  })

  it('never grows harder with a later parent, nor easier with a higher one', () => {
    const gap = fc.integer({ min: -2_000_000, max: 2_000_000 })
    fc.assert(
      fc.property(gap, gap, fc.nat(1_000), (a, b, blocks) => {
        const [early, late] = [Math.min(a, b), Math.max(a, b)]
        const target = (at: ReturnType<typeof point>) => unclampedTarget(ANCHOR, at, RULES)
        expect(target(point(blocks, early)) <= target(point(blocks, late))).toBe(true)
        const at = point(blocks, early)
        expect(target({ ...at, height: at.height + 1 }) <= target(at)).toBe(true)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('is clamped between 1 and the easiest', () => {
    expect(targetAfter(ANCHOR, point(0, 1e12), RULES)).toBe(RULES.powLimit)
    expect(targetAfter(ANCHOR, point(0, -1e12), RULES)).toBe(1n)
    expect(unclampedTarget(ANCHOR, point(0, 1e12), RULES)).toBe(2n ** 512n)
    expect(unclampedTarget(ANCHOR, point(0, -1e12), RULES)).toBe(0n)
  })
})

describe('the anchor', () => {
  it('is block 1 first', () => {
    const block = { height: 1, timeMs: 77, target: RULES.initialTarget } as Header
    expect(anchorAfter(null, { height: 0, timeMs: 5 }, block, RULES)).toEqual(block)
  })

  it('stays while targets are at the limit or below', () => {
    const atLimit = { ...ANCHOR, target: RULES.powLimit }
    for (const behind of [0, -5_000]) {
      const parent = point(10, behind)
      expect(anchorAfter(atLimit, parent, blockAfter(parent, 3_000), RULES)).toBe(atLimit)
    }
  })

  it('moves to a block whose target would have been above the limit', () => {
    const parent = point(10, 60 * HALF_LIFE)
    const block = blockAfter(parent, 3_000)
    const { height, timeMs } = block
    expect(anchorAfter(ANCHOR, parent, block, RULES)).toEqual({ height, timeMs, target: RULES.powLimit })
  })

  it('does not care how late the block itself is, only its parent', () => {
    const parent = point(10, 0)
    expect(anchorAfter(ANCHOR, parent, blockAfter(parent, 1e9), RULES)).toBe(ANCHOR)
  })

  it('moves to a block later than the gap, at the target that the gap alone would give', () => {
    const parent = point(10, -40_000)
    const block = blockAfter(parent, 28_800_000)
    const target = unclampedTarget(ANCHOR, { height: 12, timeMs: parent.timeMs + 120_000 }, SLEEPY)
    expect(anchorAfter(ANCHOR, parent, block, SLEEPY)).toEqual({ height: 12, timeMs: block.timeMs, target })
  })

  it('stays after a gap that is just not too long', () => {
    const parent = point(10, 0)
    expect(anchorAfter(ANCHOR, parent, blockAfter(parent, 120_000), SLEEPY)).toBe(ANCHOR)
    expect(anchorAfter(ANCHOR, parent, blockAfter(parent, 120_001), SLEEPY)).not.toBe(ANCHOR)
  })
})
