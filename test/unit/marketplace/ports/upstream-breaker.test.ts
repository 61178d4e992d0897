import { beforeEach, describe, expect, it } from 'vitest'
import { UpstreamBreaker } from '../../../../marketplace/ports/upstream-breaker.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

describe('the breaker of an upstream', () => {
  let breaker: UpstreamBreaker
  let nowMs: number
  beforeEach(() => {
    breaker = new UpstreamBreaker()
    nowMs = 1_800_000_000_000
  })

  const call = (went: boolean, askedMs = 0): void => {
    expect(breaker.admit(nowMs)).toBe(true)
    if (went) breaker.succeeded()
    else breaker.failed(nowMs, askedMs)
  }
  const fails = (times: number): void => {
    for (let done = 0; done < times; done++) call(false)
  }
  /** Time until the breaker lets a call through, in ms. */
  const pauseMs = (): number => {
    for (let ms = 0; ms <= 2 * 3_600_000; ms += SECOND_MS) if (!breaker.isOpen(nowMs + ms)) return ms
    return Number.POSITIVE_INFINITY
  }

  it('lets calls through until the fifth in a row fails', () => {
    fails(4)
    expect(breaker.isOpen(nowMs)).toBe(false)
    call(true)
    fails(4)
    expect(breaker.isOpen(nowMs)).toBe(false)
    fails(1)
    expect([breaker.isOpen(nowMs), breaker.admit(nowMs)]).toEqual([true, false])
    expect(pauseMs()).toBe(30 * SECOND_MS)
  })

  it('opens when more than half of the last twenty failed, though never five in a row', () => {
    for (let turn = 0; turn < 10; turn++) {
      call(false)
      call(true)
    }
    expect(breaker.isOpen(nowMs)).toBe(false)
    // The oldest failure leaves the twenty when a new one comes: still half.
    call(false)
    expect(breaker.isOpen(nowMs)).toBe(false)
    // The oldest success leaves: eleven of twenty.
    call(false)
    expect(breaker.isOpen(nowMs)).toBe(true)
  })

  it('counts shares only of twenty calls', () => {
    for (let turn = 0; turn < 4; turn++) {
      fails(4)
      call(true)
    }
    // Sixteen of the first twenty failed: the twentieth was the first that could be judged, and it went well.
    expect(breaker.isOpen(nowMs)).toBe(false)
    call(false)
    expect(breaker.isOpen(nowMs)).toBe(true)
  })

  it('lets one through after the pause, alone, and every caller once that went well', () => {
    fails(5)
    nowMs += 30 * SECOND_MS
    expect(breaker.isOpen(nowMs)).toBe(false)
    expect(breaker.admit(nowMs)).toBe(true)
    expect([breaker.admit(nowMs), breaker.isOpen(nowMs)]).toEqual([false, true])
    expect(breaker.admit(nowMs + 10 * MINUTE_MS)).toBe(false)
    breaker.succeeded()
    expect([breaker.admit(nowMs), breaker.admit(nowMs), breaker.isOpen(nowMs)]).toEqual([true, true, false])
    // Failures before the pause no longer count.
    fails(4)
    expect(breaker.isOpen(nowMs)).toBe(false)
  })

  it('doubles the pause while the one fails, up to ten minutes, and begins small again after a success', () => {
    fails(5)
    const pauses: number[] = []
    for (let turn = 0; turn < 8; turn++) {
      pauses.push(pauseMs() / SECOND_MS)
      nowMs += pauseMs()
      call(false)
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600, 600])
    nowMs += pauseMs()
    call(true)
    fails(5)
    expect(pauseMs()).toBe(30 * SECOND_MS)
  })

  it('pauses at once for as long as it is asked to, up to an hour', () => {
    call(false, 90 * SECOND_MS)
    expect(pauseMs()).toBe(90 * SECOND_MS)
    nowMs += 90 * SECOND_MS
    call(false, 24 * 3_600_000)
    expect(pauseMs()).toBe(60 * MINUTE_MS)
  })

  it('pauses no shorter than by itself, whatever it is asked', () => {
    call(false, SECOND_MS)
    expect(pauseMs()).toBe(30 * SECOND_MS)
  })

  it('takes calls that were under way together for one failure', () => {
    for (let call_ = 0; call_ < 40; call_++) expect(breaker.admit(nowMs)).toBe(true)
    for (let call_ = 0; call_ < 40; call_++) breaker.failed(nowMs)
    expect(pauseMs()).toBe(30 * SECOND_MS)
    breaker.failed(nowMs, 2 * MINUTE_MS)
    expect(pauseMs()).toBe(2 * MINUTE_MS)
  })

  it('does not end a pause for a call that began before it', () => {
    fails(5)
    breaker.succeeded()
    expect(pauseMs()).toBe(30 * SECOND_MS)
  })

  it('gives the turn back of a call that told nothing', () => {
    fails(5)
    nowMs += 30 * SECOND_MS
    expect(breaker.admit(nowMs)).toBe(true)
    breaker.abandoned()
    expect(breaker.admit(nowMs)).toBe(true)
  })

  it('does not wait for a clock that has been set back', () => {
    fails(5)
    expect(breaker.isOpen(nowMs - 365 * 24 * 3_600_000)).toBe(false)
  })
})
