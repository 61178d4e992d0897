import { describe, expect, it } from 'vitest'
import type { Connection } from '../../../../../src/p2p/host/dialer.ts'
import { type Merits, protectedOf, victimOf } from '../../../../../src/p2p/host/eviction.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { addressOf, peerId } from '../../../../support/peering.ts'

const NONE: Merits = { blockMs: 0, transactionMs: 0, latencyMs: null }

function inbound(number: number, ip: string, openedAtMs: number): Connection {
  return { id: `c${number}`, peer: peerId(number), direction: 'inbound', address: addressOf(number, ip), openedAtMs }
}

function meritsBy(merits: Readonly<Record<number, Partial<Merits>>>): (peer: PeerId) => Merits {
  const byPeer = new Map(Object.entries(merits).map(([number, each]) => [peerId(Number(number)), { ...NONE, ...each }]))
  return (peer) => byPeer.get(peer) ?? NONE
}

describe('the peer that is evicted for a new one', () => {
  it('is the newest of the most crowded network', () => {
    const old = Array.from({ length: 20 }, (_, i) => inbound(i, `60.${i}.0.1`, i))
    const crowd = Array.from({ length: 6 }, (_, i) => inbound(100 + i, `70.1.${i}.1`, 1_000 + i))
    const newest = inbound(200, '80.1.1.1', 5_000)
    expect(victimOf([...old, newest, ...crowd], () => NONE)).toBe(crowd[5])
  })

  it('is none of those that were useful, answer fast or were there first', () => {
    const crowd = Array.from({ length: 24 }, (_, i) => inbound(i, `70.1.${i}.1`, 1_000 + i))
    const merits = meritsBy({
      23: { blockMs: 5 },
      22: { transactionMs: 5 },
      21: { latencyMs: 1 },
      20: { blockMs: 4 },
      19: { blockMs: 3 },
      18: { latencyMs: 90 },
    })
    const stays = new Set([...protectedOf(crowd, merits)].map(({ id }) => id))
    for (const id of ['c23', 'c22', 'c21', 'c20', 'c18', 'c0', 'c1', 'c5']) expect(stays, id).toContain(id)
    expect(stays).not.toContain('c19')
    expect(victimOf(crowd, merits)?.id).toBe('c19')
  })

  it('leaves the lonely: an attacker with one network cannot push out the others', () => {
    const honest = Array.from({ length: 24 }, (_, i) => inbound(i, `60.${i}.0.1`, 1_000 + i))
    let all: Connection[] = honest
    for (let i = 0; i < 200; i++) {
      const attacker = inbound(1_000 + i, `70.1.${i}.1`, 2_000 + i)
      const victim = all.length < 48 ? undefined : victimOf(all, () => NONE)
      all = [...all.filter((each) => each !== victim), attacker]
    }
    expect(all.length).toBe(48)
    expect(honest.every((each) => all.includes(each))).toBe(true)
  })

  it('is none if all are protected', () => {
    expect(victimOf([], () => NONE)).toBeUndefined()
    expect(victimOf([inbound(1, '60.0.0.1', 1)], () => NONE)).toBeUndefined()
  })
})
