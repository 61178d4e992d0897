import { describe, expect, it } from 'vitest'
import { Allowance } from '../../../../../../marketplace/till/rails/dollar/allowance.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** How many newcomers may ask in the minute after `fromMs`, if each asks as soon as allowed. */
function askedInMinute(allowance: Allowance, fromMs: number): number {
  let asked = 0
  for (let ms = fromMs; ms < fromMs + MINUTE; ms += 100) {
    if (allowance.waitMs(ms) > 0) continue
    allowance.asks(ms)
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

  it('is not reckoned over a time in which it was hardly asked: one burst throttles no caller', () => {
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

  it('is all that came within the minute where it was asked all it answers, however it came', () => {
    const allowance = new Allowance()
    // The facilitator answers sixty requests a minute. Each request becomes available again a minute after it was used.
    for (let i = 0; i < 45; i++) allowance.answered(i * 100)
    for (let i = 0; i < 15; i++) allowance.answered(20 * SECOND + i * 10)
    allowance.spent(21 * SECOND, 39 * SECOND)
    for (let turn = 0; turn < 5; turn++) {
      const ms = MINUTE + turn * SECOND
      for (let i = 0; i < 8; i++) allowance.answered(ms + i * 10)
      allowance.spent(ms + 100, 500)
    }
    expect(askedInMinute(allowance, 66 * SECOND)).toBeLessThanOrEqual(46)
  })

  it('is not taken for more after that because a few came at once', () => {
    const allowance = new Allowance()
    for (let i = 0; i < 60; i++) allowance.answered(i * SECOND)
    allowance.spent(MINUTE, 20 * SECOND)
    expect(askedInMinute(allowance, 80 * SECOND)).toBeLessThanOrEqual(46)
    for (let i = 0; i < 20; i++) allowance.answered(3 * MINUTE + i)
    allowance.spent(3 * MINUTE + 100, SECOND)
    expect(askedInMinute(allowance, 3 * MINUTE + SECOND)).toBeLessThanOrEqual(46)
  })

  it('is shared by settlements that are tried again, which newcomers cannot use up', () => {
    const allowance = new Allowance()
    for (let i = 0; i < 60; i++) allowance.answered(i * SECOND)
    allowance.spent(MINUTE, SECOND)
    const counts = { newcomer: 0, repeat: 0 }
    for (let ms = MINUTE; ms < 2 * MINUTE; ms += 100)
      for (const sharer of ['newcomer', 'repeat'] as const) {
        if (allowance.waitMs(ms, sharer) > 0) continue
        allowance.asks(ms, sharer)
        counts[sharer] += 1
      }
    expect(counts.repeat).toBeGreaterThan(8)
    expect(counts.newcomer + counts.repeat).toBeLessThanOrEqual(46)
  })

  it('is left in part to who has signed by what is not proven', () => {
    const allowance = new Allowance()
    for (let i = 0; i < 60; i++) allowance.answered(i * SECOND)
    allowance.spent(MINUTE, SECOND)
    while (allowance.waitMs(MINUTE, 'unproven') === 0) allowance.asks(MINUTE, 'unproven')
    expect(allowance.waitMs(MINUTE)).toBe(0)
  })
})
