import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../../../../../src/p2p/host/dialer.ts'
import { surplusOf } from '../../../../../src/p2p/host/peer-manager.ts'
import { addressOf, peerId } from '../../../../support/peering.ts'

const [A, B] = [peerId(1), peerId(2)]
const LONG_MS = 60_000

function connection(id: string, direction: Connection['direction'], openedAtMs: number, number = 2): Connection {
  return { id, peer: peerId(number), direction, openedAtMs, address: addressOf(number, '60.0.0.1') }
}

describe('of several connections to one peer', () => {
  it('both ends keep the same one, whatever each saw first', () => {
    const times = fc.integer({ min: 0, max: 1_000 })
    const dials = fc.array(fc.record({ byA: fc.boolean(), atA: times, atB: times }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(dials, (made) => {
        // Opening times are those at the dialling end, which chooses among its own connections. The other end chooses only if it does not.
        const seenBy = (self: typeof A): readonly Connection[] =>
          made.map(({ byA, atA, atB }, i) => ({
            ...connection(`c${i}`, byA === (self === A) ? 'outbound' : 'inbound', byA ? atA : atB),
            peer: self === A ? B : A,
          }))
        const gone = (self: typeof A): readonly string[] => surplusOf(seenBy(self), self, LONG_MS).map(({ id }) => id)
        expect(gone(A).toSorted()).toEqual(gone(B).toSorted())
        expect(gone(A).length).toBe(made.length - 1)
      }),
    )
  })

  it('the one that the lesser id dialled stays', () => {
    const pair = [connection('in', 'inbound', 0), connection('out', 'outbound', 500)]
    expect(surplusOf(pair, A, LONG_MS).map(({ id }) => id)).toEqual(['in'])
    expect(surplusOf(pair, peerId(3), LONG_MS).map(({ id }) => id)).toEqual(['out'])
  })

  it('none is touched before its other end has it, and what the other end dialled is its choice at first', () => {
    const crossed = [connection('in', 'inbound', 0), connection('out', 'outbound', 500)]
    expect([2_499, 2_500].map((nowMs) => surplusOf(crossed, A, nowMs).length)).toEqual([0, 1])
    const theirs = [connection('first', 'inbound', 0), connection('second', 'inbound', 500)]
    expect([10_499, 10_500].map((nowMs) => surplusOf(theirs, A, nowMs).map(({ id }) => id))).toEqual([[], ['second']])
  })

  it('one each of different peers are no duplicates', () => {
    expect(surplusOf([connection('a', 'inbound', 0, 2), connection('b', 'outbound', 0, 3)], A, LONG_MS)).toEqual([])
  })
})
