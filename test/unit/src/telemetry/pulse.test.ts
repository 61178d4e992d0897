import { describe, expect, it } from 'vitest'
import { type PulseParts, startPulse } from '../../../../src/telemetry/pulse.ts'
import { TestTime } from '../../../support/market-parts.ts'

/** A node whose state the test sets, with its log. */
function running() {
  const time = new TestTime()
  const now = { height: 10, mined: 0, behind: false, reasons: [] as string[] }
  const said: unknown[] = []
  const log = (level: string) => (facts: object, text: string) => void said.push([level, text, facts])
  const node = {
    chain: {
      head: {
        header: {
          get height() {
            return now.height
          },
        },
      },
    },
    mempool: { count: 4 },
    peerCount: () => 2,
    notReadyBecause: () => now.reasons,
  }
  const stop = startPulse({
    logger: { info: log('info'), warn: log('warn') },
    timers: time,
    node,
    mined: () => now.mined,
    behind: () => now.behind,
  } as unknown as PulseParts)
  return { time, now, said, stop }
}

describe('a running node', () => {
  it('says one line a minute, with what came since the line before', () => {
    const { time, now, said, stop } = running()
    time.pass(59_000)
    expect(said).toEqual([])
    Object.assign(now, { height: 25, mined: 6 })
    time.pass(1_000)
    time.pass(60_000)
    const standing = { height: 25, peers: 2, waitingTransactions: 4 }
    expect(said).toEqual([
      ['info', 'running', { ...standing, newBlocks: 15, minedHere: 6 }],
      ['info', 'running', { ...standing, newBlocks: 0, minedHere: 0 }],
    ])
    void stop()
    expect(time.waiting).toBe(0)
  })

  it('leaves the word to the synchroniser while it is behind, and says why it is not ready', () => {
    const { time, now, said } = running()
    now.behind = true
    time.pass(60_000)
    expect(said).toEqual([])
    Object.assign(now, { behind: false, reasons: ['no peers'] })
    time.pass(60_000)
    expect(said).toEqual([['warn', 'not ready', expect.objectContaining({ reasons: ['no peers'] })]])
  })
})
