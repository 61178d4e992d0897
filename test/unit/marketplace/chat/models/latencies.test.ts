import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Latencies, LatencyBook } from '../../../../../marketplace/chat/models/latencies.ts'

const HOUR_MS = 3_600_000
const NOON = 500_000 * HOUR_MS

describe('how long something takes', () => {
  it('is nothing that is known where nothing was noted', () => {
    expect(new Latencies().figures(NOON)).toBeNull()
  })

  it('is told within five in a hundred, whatever was noted', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 400 }), (times) => {
        const latencies = new Latencies()
        for (const ms of times) latencies.note(ms, NOON)
        const sorted = times.toSorted((one, other) => one - other)
        const figures = latencies.figures(NOON)
        expect(figures?.count).toBe(times.length)
        const nearest = (part: number): number => sorted[Math.ceil(times.length * part) - 1] as number
        for (const [told, real] of [
          [figures?.p50Ms, nearest(0.5)],
          [figures?.p95Ms, nearest(0.95)],
        ] as const)
          expect(Math.abs((told as number) - real)).toBeLessThanOrEqual(real * 0.05 + 0.5)
      }),
    )
  })

  it('forgets what is older than a day, and nothing within its last 23 hours', () => {
    const latencies = new Latencies()
    latencies.note(100, NOON)
    for (let hour = 1; hour <= 23; hour++) latencies.note(1_000, NOON + hour * HOUR_MS)
    expect(latencies.figures(NOON + 23 * HOUR_MS)).toMatchObject({ count: 24 })
    expect(latencies.figures(NOON + 24 * HOUR_MS)).toMatchObject({ count: 23 })
    expect(latencies.figures(NOON + 47 * HOUR_MS)).toBeNull()
    latencies.note(7, NOON + 48 * HOUR_MS)
    expect(latencies.figures(NOON + 48 * HOUR_MS)).toEqual({ count: 1, p50Ms: 7, p95Ms: 7 })
  })

  it('takes times that clocks make: below zero, and of a clock that was set back', () => {
    const latencies = new Latencies()
    latencies.note(-50, NOON)
    latencies.note(Number.POSITIVE_INFINITY, NOON)
    expect(latencies.figures(NOON)?.count).toBe(2)
    expect(latencies.figures(NOON - 10 * HOUR_MS)).toBeNull()
  })

  it('is kept by name, for so many names and no more', () => {
    const book = new LatencyBook()
    for (let i = 0; i < 5_000; i++) book.note(`n${i}`, 10, NOON)
    expect(book.figures('n0', NOON)).toMatchObject({ count: 1 })
    expect(book.figures('n4999', NOON)).toBeNull()
    expect(book.names).toHaveLength(1_024)
  })
})
