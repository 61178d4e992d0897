import { describe, expect, it } from 'vitest'
import { Allowance } from '../../../../marketplace/stable/allowance.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** How many newcomers may ask within a minute from a moment on, where each asks as soon as it may. */
function askedInMinute(allowance: Allowance, fromMs: number): number {
  let asked = 0
  for (let ms = fromMs; ms < fromMs + MINUTE; ms += 100) {
    if (allowance.newcomerWaitMs(ms) > 0) continue
    allowance.newcomerAsks(ms)
    asked += 1
  }
  return asked
}

describe('what a facilitator answers', () => {
  it('is reckoned over the minute where it was asked all the time', () => {
    const allowance = new Allowance()
    for (let i = 0; i < 50; i++) allowance.answered(i * SECOND)
    allowance.spent(50 * SECOND, 10 * SECOND)
    const asked = askedInMinute(allowance, 60 * SECOND)
    expect([asked > 30, asked <= 38]).toEqual([true, true])
  })

  it('is not reckoned over a time in which it was hardly asked: one burst throttles nobody', () => {
    const allowance = new Allowance()
    allowance.answered(0)
    for (let i = 0; i < 5; i++) allowance.answered(40 * SECOND)
    allowance.spent(40 * SECOND, SECOND)
    expect(askedInMinute(allowance, 41 * SECOND)).toBeGreaterThan(150)
  })

  it('is not taken for less because newcomers were held back', () => {
    const allowance = new Allowance()
    for (let i = 0; i < 5; i++) allowance.answered(0)
    allowance.spent(0, SECOND)
    const before = askedInMinute(allowance, SECOND)
    for (let turn = 0; turn < 4; turn++) {
      const ms = (1 + turn) * MINUTE
      for (let i = 0; i < 50; i++) allowance.answered(ms + i * SECOND)
      allowance.spent(ms + 50 * SECOND, SECOND)
      expect(askedInMinute(allowance, ms + 51 * SECOND)).toBeGreaterThanOrEqual(before - 1)
    }
  })

  it('is taken for less where it shows to be less before newcomers were held back', () => {
    const allowance = new Allowance()
    for (let i = 0; i < 100; i++) allowance.answered(i * 10)
    allowance.spent(SECOND, SECOND)
    for (let i = 0; i < 10; i++) allowance.answered(2 * SECOND + i * SECOND)
    allowance.spent(12 * SECOND, 50 * SECOND)
    expect(askedInMinute(allowance, MINUTE)).toBeLessThan(100)
  })
})
