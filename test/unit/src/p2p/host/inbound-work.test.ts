import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { INBOUND_WORK, InboundWork, type Readable } from '../../../../../src/p2p/host/inbound-work.ts'

const { ownBurstMs, allBurstMs, inboundShare, allShare, restMs } = INBOUND_WORK
/** How long work for one read piece takes. */
const PIECE_MS = 5

/** A connection that records whether it is being read. */
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

describe('judging what a connection sent', () => {
  /** Keeps this thread busy, because judging is measured by the machine's clock. */
  const toil = (ms: number): void => {
    const untilMs = performance.now() + ms
    while (performance.now() < untilMs);
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    work = new InboundWork({ now: () => Date.now() })
  })

  it('is charged when it is done, and its connection read later', () => {
    const line = new Line()
    const account = work.of(line)
    account.spend(allBurstMs)
    const judging = account.judging()
    const judge = (): string => {
      toil(20)
      return 'judged'
    }
    expect(judging.measure(judge)).toBe('judged')
    expect([line.isRead, account.owedMs]).toEqual([true, 0])
    judging.charge()
    judging.charge()
    expect(line.isRead).toBe(false)
    expect(account.owedMs).toBeGreaterThan(15 - PIECE_MS)
    expect(account.owedMs).toBeLessThan(200)
  })

  it('goes on in slices where it takes long, each charged before more may come', async () => {
    const line = new Line()
    const account = work.of(line)
    account.spend(allBurstMs)
    let turns = 0
    let isDone = false
    const others = (): void => {
      turns += 1
      if (!isDone) setImmediate(others)
    }
    setImmediate(others)
    function* steps(): Generator<void, string> {
      for (let i = 0; i < 50; i++) {
        toil(1)
        if (i === 40) expect(line.isRead).toBe(false)
        yield
      }
      return 'judged'
    }
    expect(await account.judging().run(steps())).toBe('judged')
    isDone = true
    expect(turns).toBeGreaterThan(5)
    expect(account.owedMs).toBeGreaterThan(30)
  })

  it('is charged to where its connection came from if that has ended meanwhile', () => {
    const account = work.of(new Line())
    account.spend(allBurstMs)
    account.spend(9)
    const judging = account.judging()
    judging.measure(() => toil(20))
    const charged: number[] = []
    account.end((ms) => charged.push(ms))
    judging.charge()
    expect([charged[0], charged.length]).toEqual([9 - ownBurstMs, 2])
    expect(charged[1]).toBeGreaterThanOrEqual(20)
  })
})
