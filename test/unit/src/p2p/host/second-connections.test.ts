import { describe, expect, it } from 'vitest'
import { groupOf } from '../../../../../src/p2p/host/address-groups.ts'
import { ipOf } from '../../../../../src/p2p/host/node-address.ts'
import { addressOf, peerId } from '../../../../support/peering.ts'
import { Station } from '../../../../support/station.ts'

describe('duplicate connections', () => {
  it('are collapsed to one, and the peer is not dialled again for it', async () => {
    const station = await Station.open({ configured: [addressOf(5, '60.5.0.1')] })
    station.dialer.online.set('60.5.0.1:8421', peerId(5))
    station.manager.start()
    await station.pass(100)
    station.dialer.open(peerId(5), '/ip4/60.5.0.1/tcp/40000')
    await station.pass(30_000)
    expect(station.dialer.connections().map(({ direction }) => direction)).toEqual(['outbound'])
    expect(station.dialer.dials.length).toBe(1)
  })
})

describe('peers that we dialled, and that dial us as well', () => {
  // Of a pair of peers, the one with the lesser id keeps the connection that it dialled.
  const self = 1_000
  const back = async (station: Station, from: string): Promise<void> => {
    for (let round = 0; round < 10; round++) {
      for (const { peer } of station.outbound) station.dialer.open(peer, `/ip4/${from}/tcp/${40_000 + round}`)
      await station.pass(10_000)
    }
  }

  it('are never more than we want, wherever they dial from', async () => {
    const station = await Station.open({ inboundMax: 40 }, undefined, 1, self)
    for (let i = 1; i <= 40; i++) station.node(i, `60.${i % 20}.${i}.1`)
    station.manager.start()
    await back(station, '80.1.1.1')
    expect(station.dialer.connections().map(({ direction }) => direction)).toEqual(Array(4).fill('inbound'))
    const ips = station.dialer.dials.map(({ address }) => groupOf(ipOf(address)!))
    expect(new Set(ips).size).toBe(4)
    expect(ips.length).toBe(4)
  })

  it('make room for no peer that comes by itself', async () => {
    const station = await Station.open({ inboundMax: 8 }, undefined, 1, self)
    for (let i = 1; i <= 4; i++) station.arrive(i, `70.${i}.1.1`)
    for (let i = 101; i <= 104; i++) station.node(i, `60.${i}.1.1`)
    station.manager.start()
    await back(station, '60.1.1.1')
    for (let i = 11; i <= 50; i++) {
      station.arrive(i, `71.${i}.1.1`)
      await station.pass(1_000)
    }
    const ours = [101, 102, 103, 104].map(peerId)
    expect(station.dialer.peers).toEqual(expect.arrayContaining(ours))
    expect(station.dialer.dials.length).toBe(4)
    expect(ours.map((peer) => station.manager.isProtected(peer))).toEqual([true, true, true, true])
  })
})
