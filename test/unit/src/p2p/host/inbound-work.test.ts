import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { INBOUND_WORK, InboundWork, type Readable } from '../../../../../src/p2p/host/inbound-work.ts'

const { ownBurstMs, allBurstMs, inboundShare, allShare, restMs } = INBOUND_WORK
/** What is read in one piece takes so much. */
const PIECE_MS = 5

/** A connection that notes whether it is read. */
class Line implements Readable {
  readonly direction = 'inbound'
  isRead = true
  rests = 0
  open = true
  readonly isOpen = (): boolean => this.open

  pause(): void {
    this.isRead = false
    this.rests += 1
  }

  resume(): void {
    this.isRead = true
  }
}

let work: InboundWork

beforeEach(() => {
  vi.useFakeTimers()
  work = new InboundWork({ now: () => Date.now() })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a connection that sends without end', () => {
  it('is read no further once its share and that of all are used up, and again when it owes nothing', () => {
    const line = new Line()
    const account = work.of(line)
    for (let ms = 0; ms < ownBurstMs + allBurstMs; ms++) account.spend(1)
    expect([line.isRead, account.owedMs]).toEqual([true, 0])
    account.spend(1)
    account.spend(1)
    expect([line.isRead, line.rests, account.owedMs]).toEqual([false, 1, 2])
    vi.advanceTimersByTime(1_000)
    expect([line.isRead, account.owedMs]).toEqual([true, 0])
  })

  it('takes no more than the shares of the main thread, beside forty-seven like it, whatever comes in one piece', () => {
    const lines = Array.from({ length: 48 }, () => new Line())
    const accounts = lines.map((line) => work.of(line))
    let tookMs = 0
    const seconds = 120
    for (let at = 0; at < seconds * 1_000; at += 10) {
      lines.forEach((line, i) => {
        if (!line.isRead) return
        accounts[i]?.spend(PIECE_MS)
        tookMs += PIECE_MS
      })
      vi.advanceTimersByTime(10)
    }
    const sharesMs = seconds * 1_000 * (allShare + 48 * inboundShare)
    const restedMs = (seconds * 1_000) / restMs
    expect(tookMs).toBeLessThan(allBurstMs + sharesMs + 48 * (ownBurstMs + PIECE_MS * restedMs))
    expect(tookMs).toBeLessThan(0.75 * seconds * 1_000)
  })

  it('keeps none waiting that sends within its own share', () => {
    const [flood, honest] = [new Line(), new Line()]
    const [flooding, sending] = [work.of(flood), work.of(honest)]
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 1_000; i++) flooding.spend(1)
      sending.spend(inboundShare * 1_000)
      vi.advanceTimersByTime(1_000)
    }
    expect(flood.rests).toBeGreaterThan(10)
    expect(honest.rests).toBe(0)
  })

  it('is left alone where it ends while it rests', () => {
    const line = new Line()
    const account = work.of(line)
    for (let ms = 0; ms < 2 * (ownBurstMs + allBurstMs); ms++) account.spend(1)
    line.open = false
    vi.advanceTimersByTime(5_000)
    account.spend(1)
    expect([line.isRead, line.rests]).toEqual([false, 1])
  })
})
