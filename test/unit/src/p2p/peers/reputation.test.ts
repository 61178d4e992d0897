import { describe, expect, it } from 'vitest'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { ALLOWANCES, Budget } from '../../../../../src/p2p/peers/budget.ts'
import { BAN_POINTS, DISCONNECT_POINTS, HALF_LIFE_MS, OFFENCES } from '../../../../../src/p2p/peers/offences.ts'
import { Reputation } from '../../../../../src/p2p/peers/peers.ts'

const PEER = 'a peer' as PeerId

class ManualClock {
  ms = 1_000_000

  now(): number {
    return this.ms
  }
}

describe('the points of a peer', () => {
  it('add up to a disconnection and then to a ban', () => {
    const reputation = new Reputation(new ManualClock())
    const consequences = Array.from({ length: 10 }, () => reputation.add(PEER, 'flood'))
    const disconnectAt = Math.ceil(DISCONNECT_POINTS / OFFENCES.flood) - 1
    const banAt = Math.ceil(BAN_POINTS / OFFENCES.flood) - 1
    expect(consequences.indexOf('disconnect')).toBe(disconnectAt)
    expect(consequences.indexOf('ban')).toBe(banAt)
    expect(consequences.slice(0, disconnectAt)).toEqual(Array(disconnectAt).fill('none'))
  })

  it('for being slow part a peer from us, never for a day', () => {
    const reputation = new Reputation(new ManualClock())
    const consequences = Array.from({ length: 30 }, () => reputation.add(PEER, 'timeout'))
    expect(consequences.slice(0, 4)).toEqual(Array(4).fill('none'))
    expect(consequences.slice(4)).toEqual(Array(26).fill('disconnect'))
    expect(reputation.add(PEER, 'bad-body')).toBe('ban')
  })

  it('fade by half in a half-life, and never grow when the clock is set back', () => {
    const clock = new ManualClock()
    const reputation = new Reputation(clock)
    reputation.add(PEER, 'bad-transaction')
    clock.ms += HALF_LIFE_MS
    expect(reputation.pointsOf(PEER)).toBeCloseTo(OFFENCES['bad-transaction'] / 2, 9)
    clock.ms -= 10 * HALF_LIFE_MS
    expect(reputation.pointsOf(PEER)).toBe(OFFENCES['bad-transaction'])
  })

  it('are forgotten when a ban is lifted', () => {
    const reputation = new Reputation(new ManualClock())
    expect(reputation.add(PEER, 'bad-work')).toBe('ban')
    reputation.forgive(PEER)
    expect(reputation.pointsOf(PEER)).toBe(0)
    expect(reputation.add(PEER, 'useless')).toBe('none')
  })

  it.each(['malformed', 'bad-work', 'bad-header', 'bad-block', 'bad-state', 'bad-keys'] as const)(
    'ban at once for what no honest node does: %s',
    (offence) => {
      expect(new Reputation(new ManualClock()).add(PEER, offence)).toBe('ban')
    },
  )
})

describe('the budget of a peer', () => {
  it('allows a burst, then what is refilled, and takes nothing where it does not suffice', () => {
    const clock = new ManualClock()
    const budget = new Budget(clock)
    const { burst, perSecond } = ALLOWANCES.requests
    expect(budget.take('requests', burst)).toBe(true)
    expect(budget.take('requests', 1)).toBe(false)
    clock.ms += 1_000
    expect(budget.take('requests', perSecond + 1)).toBe(false)
    expect(budget.take('requests', perSecond)).toBe(true)
    expect(budget.take('requests', 1)).toBe(false)
  })

  it('never holds more than a burst, whatever is given back and however long it rests', () => {
    const clock = new ManualClock()
    const budget = new Budget(clock)
    const { burst } = ALLOWANCES.verificationMs
    budget.giveBack('verificationMs', burst)
    clock.ms += 10_000_000
    expect(budget.take('verificationMs', burst + 1)).toBe(false)
    expect(budget.take('verificationMs', burst)).toBe(true)
  })

  it('keeps its resources apart', () => {
    const budget = new Budget(new ManualClock())
    expect(budget.take('bytesIn', ALLOWANCES.bytesIn.burst)).toBe(true)
    expect(budget.take('bytesIn', 1)).toBe(false)
    expect(budget.take('bytesOut', 1)).toBe(true)
    expect(budget.take('requests', 1)).toBe(true)
  })
})
