import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LastMinute, tokensLeft, UNUSED, usedOn } from '../../../../../marketplace/chat/keys/key-quota.ts'

const DAY_MS = 86_400_000

describe('the last minute', () => {
  it('never lets more than the limit into any 60 seconds, whenever they come', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 12 }), (waits, limit) => {
        const minute = new LastMinute()
        const taken: number[] = []
        let nowMs = 1_700_000_000_000
        for (const wait of waits) {
          nowMs += wait
          if (minute.left(limit, nowMs).remaining === 0) continue
          minute.add(nowMs)
          taken.push(nowMs)
        }
        for (const [i, atMs] of taken.entries())
          expect((taken[i + limit] ?? Infinity) - atMs).toBeGreaterThanOrEqual(60_000)
      }),
    )
  })

  it('lets the next one in when it said it would, and not before', () => {
    const offsets = fc.array(fc.integer({ min: 0, max: 59_999 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(offsets, (times) => {
        const minute = new LastMinute()
        const sorted = times.toSorted((a, b) => a - b).map((ms) => 1_700_000_000_000 + ms)
        for (const atMs of sorted) minute.add(atMs)
        const nowMs = sorted.at(-1) as number
        const { waitMs } = minute.left(times.length, nowMs)
        expect(minute.left(times.length, nowMs + waitMs - 1).remaining).toBe(0)
        expect(minute.left(times.length, nowMs + waitMs).remaining).toBeGreaterThan(0)
      }),
    )
  })

  it('says when all of it is there again', () => {
    const minute = new LastMinute()
    minute.add(10_000)
    minute.add(40_500)
    const { resetMs, remaining } = minute.left(5, 41_000)
    expect(remaining).toBe(3)
    expect(minute.left(5, 41_000 + resetMs - 1).remaining).toBe(4)
    expect(minute.left(5, 41_000 + resetMs)).toMatchObject({ remaining: 5, resetMs: 0 })
  })

  it('begins anew where the clock is set back, rather than to wait for it', () => {
    const minute = new LastMinute()
    minute.add(1_900_000_000_000)
    expect(minute.left(1, 1_700_000_000_000).remaining).toBe(1)
  })
})

describe('tokens of a day', () => {
  it('are there again at midnight (UTC)', () => {
    const used = { requests: 1, promptTokens: 70, completionTokens: 20 }
    expect(tokensLeft(100, used, 3 * DAY_MS + 1)).toEqual({ limit: 100, remaining: 10, resetMs: DAY_MS - 1 })
    expect(tokensLeft(80, used, 3 * DAY_MS).remaining).toBe(0)
    expect(usedOn({ day: 3, ...used }, 4 * DAY_MS - 1)).toEqual(used)
    expect(usedOn({ day: 3, ...used }, 4 * DAY_MS)).toEqual(UNUSED)
  })
})
