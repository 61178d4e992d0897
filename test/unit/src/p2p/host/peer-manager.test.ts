import { describe, expect, it } from 'vitest'
import { groupOf } from '../../../../../src/p2p/host/address-groups.ts'
import { ipOf } from '../../../../../src/p2p/host/node-address.ts'
import { addressOf, peerId } from '../../../../support/peering.ts'
import { Station } from '../../../../support/station.ts'

describe('outbound connections', () => {
  it('are as many as wanted, each to another network, and are made up for', async () => {
    const station = await Station.open()
    for (let i = 1; i <= 12; i++) station.node(i, `60.${i % 6}.${i}.1`)
    station.manager.start()
    await station.pass(5_000)
    expect(station.outbound.length).toBe(4)
    const groups = station.outbound.map(({ address }) => groupOf(ipOf(address)!))
    expect(new Set(groups).size).toBe(4)
    const [lost] = station.outbound
    station.dialer.online.delete(`${lost!.address.split('/')[2]}:8421`)
    station.dialer.close(lost!)
    await station.pass(5_000)
    expect(station.outbound.length).toBe(4)
    expect(station.outbound.map(({ peer }) => peer)).not.toContain(lost!.peer)
  })

  it('go to one network if there is only one on the devnet, and not to private addresses elsewhere', async () => {
    for (const [allowPrivate, wanted] of [
      [true, 4],
      [false, 0],
    ] as const) {
      const station = await Station.open({ allowPrivate })
      for (let i = 1; i <= 6; i++) station.node(i, `127.0.0.${i}`)
      station.manager.start()
      await station.pass(5_000)
      expect(station.outbound.length).toBe(wanted)
      expect(station.manager.mayDial(null, '/ip4/10.0.0.1/tcp/1')).toBe(allowPrivate)
    }
  })

  it('are sought by a few dials at once, never to ourselves and never twice to one', async () => {
    const station = await Station.open({ outbound: 10 })
    station.node(0)
    for (let i = 1; i <= 9; i++) station.node(i)
    station.book.add(addressOf(3, '61.3.0.1'), 'kad')
    station.dialer.online.set('61.3.0.1:8421', peerId(3))
    station.manager.start()
    expect(station.dialer.dials.length).toBe(4)
    await station.pass(10_000)
    expect(station.dialer.peers.length).toBe(9)
    expect(station.dialer.dials.length).toBe(9)
  })

  it('to peers that never shake hands count as failures of their address', async () => {
    const station = await Station.open()
    station.node(1)
    station.manager.start()
    for (let i = 0; i < 4; i++) {
      await station.time.pass(1_500)
      for (const connection of station.dialer.connections()) station.dialer.close(connection)
      await station.time.pass(60_000)
    }
    expect(station.book.size).toBe(0)
    expect(station.dialer.dials.length).toBe(3)
  })

  it('that others dialled are hung up in a while if they are too many or of one network', async () => {
    const station = await Station.open({ outbound: 2 })
    station.manager.start()
    for (const [i, ip] of ['60.1.0.1', '60.1.0.2', '60.2.0.1', '60.3.0.1'].entries()) {
      station.dialer.open(peerId(i + 1), addressOf(i + 1, ip), 'outbound')
      await station.pass(1_000)
    }
    await station.pass(20_000)
    expect(station.outbound.length).toBe(4)
    await station.pass(20_000)
    expect(station.outbound.map(({ peer }) => peer)).toEqual([peerId(1), peerId(3)])
  })
})

describe('configured peers', () => {
  it('without an answer are reported once, found ones and others never', async () => {
    const [gone, there] = [addressOf(8, '60.8.0.1'), addressOf(9, '60.9.0.1')]
    const station = await Station.open({ configured: [gone, there], seeds: [addressOf(10, '60.10.0.1')] })
    station.node(9)
    station.node(11)
    station.dialer.online.delete('60.11.0.1:8421')
    station.manager.start()
    await station.pass(60_000)
    expect(station.gaps(gone).length).toBeGreaterThan(3)
    expect(station.told).toEqual([{ address: gone }])
  })

  const PEER = addressOf(1, '127.0.0.1')

  it('are dialled with delays that double to a minute, give or take a fifth', async () => {
    const station = await Station.open({ outbound: 0, configured: [PEER, addressOf(2, '127.0.0.2')] })
    station.dialer.online.set('127.0.0.2:8421', peerId(2))
    station.manager.start()
    await station.pass(600_000)
    const gaps = station.gaps(PEER)
    expect(gaps.length).toBeGreaterThan(12)
    gaps.forEach((gap, i) => {
      const delay = Math.min(60_000, 1_000 * 2 ** i)
      expect(gap, `gap ${i}`).toBeGreaterThanOrEqual(0.8 * delay)
      // The manager checks once a second, so a dial may be up to a second late.
      expect(gap, `gap ${i}`).toBeLessThanOrEqual(1.2 * delay + 1_100)
    })
    expect(new Set(gaps.slice(7)).size).toBeGreaterThan(2)
  })

  it('that come late are connected within 15 s, however late, as long as connections are missing', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      for (const outbound of [0, 4]) {
        const station = await Station.open({ outbound, configured: [PEER] }, undefined, seed)
        station.manager.start()
        await station.pass(300_000 + seed * 1_717)
        station.dialer.online.set('127.0.0.1:8421', peerId(1))
        await station.pass(15_000)
        expect(station.dialer.peers).toEqual([peerId(1)])
      }
    }
  })

  it('are back at once after a long connection, but not where each ends at once', async () => {
    const station = await Station.open({ configured: [PEER] })
    station.dialer.online.set('127.0.0.1:8421', peerId(1))
    station.manager.start()
    await station.pass(30_000)
    station.dialer.close(station.outbound[0]!)
    await station.pass(1_100)
    expect(station.outbound.length).toBe(1)
    for (let i = 0; i < 100; i++) {
      for (const connection of station.outbound) station.dialer.close(connection)
      await station.time.pass(600)
    }
    expect(station.dialer.dials.length).toBeLessThan(14)
  })

  it('come beside the wanted number, private or crowded as they may be, and are known by the id that answered', async () => {
    const place = '/ip4/60.1.0.9/tcp/8421'
    const station = await Station.open({ outbound: 2, configured: [place, PEER] })
    station.dialer.online.set('60.1.0.9:8421', peerId(9))
    station.dialer.online.set('127.0.0.1:8421', peerId(1))
    for (let i = 2; i <= 5; i++) station.node(i)
    station.manager.start()
    await station.pass(60_000)
    expect(station.outbound.length).toBe(4)
    expect(station.dialer.peers).toEqual(expect.arrayContaining([peerId(9), peerId(1)]))
    expect(station.dialer.dials.length).toBe(4)
    station.dialer.online.set('60.1.0.9:8421', peerId(10))
    station.dialer.close(station.outbound.find(({ peer }) => peer === peerId(9))!)
    await station.pass(3_000)
    expect(station.dialer.peers).toContain(peerId(10))
  })

  it('that are no addresses are left out', async () => {
    const station = await Station.open({ configured: ['/ip4/1.2.3.4', 'x', PEER] })
    station.manager.start()
    await station.pass(1_000)
    expect(station.dialer.dials.map(({ address }) => address)).toEqual([PEER])
  })
})

it.each(['configured', 'seeds'] as const)(
  'a stranger that is banned shuts out no peer of %s at its address',
  async (kind) => {
    const station = await Station.open({ [kind]: [addressOf(9, '60.9.0.1')] })
    station.dialer.online.set('60.9.0.1:8421', peerId(9))
    station.manager.start()
    await station.pass(60_000)
    station.arrive(1, '60.9.0.1')
    station.manager.ban(peerId(1), 'malformed')
    const dials = station.dialer.dials.length
    for (let second = 0; second < 600; second++) {
      await station.pass(1_000)
      expect(station.dialer.peers).toEqual([peerId(9)])
    }
    expect(station.dialer.dials.length).toBe(dials)
  },
)

describe('seeds', () => {
  it('are dialled if no other peer is known, again and again, by name too', async () => {
    const named = `/dns4/seed.example/tcp/8421/p2p/${peerId(7)}`
    const station = await Station.open({ seeds: [named] })
    station.manager.start()
    await station.pass(120_000)
    expect(station.dialer.dials.length).toBeGreaterThan(8)
    station.dialer.online.set('seed.example:8421', peerId(7))
    await station.pass(15_000)
    expect(station.dialer.peers).toEqual([peerId(7)])
  })

  it('are left in peace where others are there', async () => {
    const station = await Station.open({ outbound: 2, seeds: [addressOf(9, '90.0.0.1')] })
    for (let i = 1; i <= 3; i++) station.node(i)
    station.dialer.open(peerId(20), '/ip4/80.0.0.1/tcp/1')
    station.manager.start()
    await station.pass(60_000)
    expect(station.outbound.length).toBe(2)
    expect(station.dialer.dials.map(({ address }) => address)).not.toContain(addressOf(9, '90.0.0.1'))
  })
})

describe('anchors', () => {
  it('are two that lasted, and the first that are dialled after a restart', async () => {
    const first = await Station.open()
    for (let i = 1; i <= 4; i++) first.node(i)
    first.manager.start()
    await first.pass(40_000)
    first.manager.stop()
    await first.writer.flush()
    const anchors = [0, 1].map((i) => first.records.entries.get(`anchor/${i}`))
    expect(anchors).toEqual(first.outbound.slice(0, 2).map(({ address }) => address))
    for (let seed = 1; seed <= 5; seed++) {
      const next = await Station.open({}, new Map(first.records.entries), seed)
      next.manager.start()
      expect(next.dialer.dials.slice(0, 2).map(({ address }) => address)).toEqual(anchors)
    }
  })

  it('from before stay while no peer lasts, and banned ones are not dialled', async () => {
    const entries = new Map([
      ['anchor/0', addressOf(1, '60.1.0.1')],
      ['anchor/1', addressOf(2, '60.2.0.1')],
    ])
    const station = await Station.open({}, entries)
    station.bans.ban(peerId(2), 1e9, 'x')
    station.manager.start()
    await station.pass(60_000)
    station.manager.stop()
    await station.writer.flush()
    expect(station.dialer.dials.map(({ address }) => address)).toEqual([addressOf(1, '60.1.0.1')])
    expect(station.records.entries.get('anchor/0')).toBe(addressOf(1, '60.1.0.1'))
  })
})

describe('inbound connections', () => {
  it('end where the peer was banned while they were on their way in', async () => {
    const station = await Station.open()
    station.manager.start()
    station.arrive(1, '60.1.0.1')
    station.bans.ban(peerId(1), 1e9, 'x')
    await station.pass(2_000)
    expect(station.dialer.peers).not.toContain(peerId(1))
  })

  it('are bounded by machine and network, but not among neighbours on the devnet', async () => {
    const station = await Station.open({ inboundMax: 100 })
    const letIn = (ips: readonly string[]): number =>
      ips.filter((ip, i) => station.arrive(100 + station.dialer.peers.length + i, ip) !== undefined).length
    expect(letIn(Array(5).fill('60.1.1.1'))).toBe(2)
    expect(letIn(Array.from({ length: 20 }, (_, i) => `60.2.2.${i}`))).toBe(8)
    expect(letIn(Array.from({ length: 20 }, (_, i) => `60.3.${i}.1`))).toBe(20)
    expect(letIn(Array(5).fill('127.0.0.1'))).toBe(2)
    const devnet = await Station.open({ inboundMax: 100, allowPrivate: true })
    for (let i = 1; i <= 30; i++) expect(devnet.arrive(i, '127.0.0.1')).toBeDefined()
    expect(station.manager.mayAccept('/dns4/x.example/tcp/1')).toBe(false)
  })

  it('come from known machines where we dialled one with success or the operator named it', async () => {
    const seed = addressOf(9, '60.9.0.1')
    const station = await Station.open({ seeds: [seed] })
    station.node(1)
    station.node(2, '61.2.0.1')
    station.dialer.online.delete('61.2.0.1:8421')
    station.manager.start()
    await station.pass(2_000)
    const isKnown = (ip: string): boolean => station.manager.isKnown(`/ip4/${ip}/tcp/50000`)
    expect(['60.1.0.1', '60.9.0.1', '61.2.0.1', '60.1.0.2'].map(isKnown)).toEqual([true, true, false, false])
    expect(station.manager.isKnown('/dns4/x.example/tcp/1')).toBe(false)
  })

  it('make room for others when there are too many, the useful and the old excepted', async () => {
    const station = await Station.open({ inboundMax: 12 })
    station.manager.start()
    for (let i = 1; i <= 12; i++) {
      expect(station.arrive(i, `70.1.${i}.1`)).toBeDefined()
      await station.pass(1_000)
    }
    station.manager.useful(peerId(12), 'block')
    station.manager.useful(peerId(11), 'transaction')
    station.latencies.set(peerId(10), 3)
    expect([12, 11, 10, 1].map((i) => station.manager.isProtected(peerId(i)))).toEqual([true, true, true, true])
    expect(station.arrive(20, '80.1.1.1')).toBeDefined()
    expect(station.dialer.hungUp.map(({ peer }) => peer)).toEqual([peerId(9)])
    expect(station.dialer.connections().length).toBe(12)
    for (let i = 21; i <= 60; i++) {
      station.arrive(i, `70.2.${i}.1`)
      await station.pass(1_000)
    }
    expect(station.dialer.connections().length).toBe(12)
    expect(station.dialer.peers).toEqual(expect.arrayContaining([12, 11, 10, 1, 20].map(peerId)))
  })

  it('of configured peers are always taken, and never make room', async () => {
    const configured = Array.from({ length: 4 }, (_, i) => addressOf(i + 1, '60.1.1.1'))
    const station = await Station.open({ inboundMax: 4, configured })
    for (let i = 1; i <= 4; i++) expect(station.arrive(i, `60.${i}.1.1`)).toBeDefined()
    expect(station.arrive(9, '70.0.0.1')).toBeUndefined()
    expect(station.dialer.hungUp).toEqual([])
    expect(station.manager.isProtected(peerId(2))).toBe(true)
  })

  it('merits of peers that are gone are forgotten', async () => {
    const station = await Station.open({ inboundMax: 12 })
    const connection = station.arrive(12, '70.1.12.1')!
    station.manager.useful(peerId(12), 'block')
    station.dialer.close(connection)
    station.manager.useful(peerId(12), 'block')
    for (let i = 1; i <= 12; i++) {
      station.arrive(i, `70.1.${i}.1`)
      await station.pass(1_000)
    }
    expect(station.manager.isProtected(peerId(12))).toBe(false)
  })
})

describe('a ban', () => {
  it('ends the connections of the peer and keeps it away by id and address', async () => {
    const station = await Station.open()
    station.node(1)
    station.manager.start()
    await station.pass(2_000)
    station.arrive(30, '60.1.0.1')
    expect(station.dialer.peers).toEqual([peerId(1), peerId(30)])
    station.manager.ban(peerId(1), 'bad-block')
    expect(station.dialer.peers).toEqual([])
    expect(station.book.size).toBe(0)
    expect(station.arrive(1, '61.0.0.1')).toBeUndefined()
    expect(station.arrive(31, '60.1.0.1')).toBeUndefined()
    expect(station.arrive(31, '60.1.0.2')).toBeDefined()
    expect(station.manager.mayDial(peerId(1), addressOf(1, '61.0.0.1'))).toBe(false)
    expect(station.manager.mayDial(null, '/ip4/60.1.0.1/tcp/8421')).toBe(false)
    expect(station.manager.mayKeep(peerId(1), addressOf(1, '61.0.0.1'), 'outbound')).toBe(false)
    const dials = station.dialer.dials.length
    station.book.add(addressOf(1, '60.1.0.1'), 'kad')
    await station.pass(60_000)
    expect(station.dialer.dials.length).toBe(dials)
  })

  it('of one on the devnet does not keep away the others of its machine', async () => {
    const station = await Station.open({ allowPrivate: true })
    station.arrive(1, '127.0.0.1')
    station.arrive(2, '127.0.0.1')
    station.manager.ban(peerId(1), 'bad-block')
    expect(station.dialer.peers).toEqual([peerId(2)])
    expect(station.arrive(3, '127.0.0.1')).toBeDefined()
  })
})

describe('a manager that is stopped', () => {
  it('dials no peers and admits none', async () => {
    const station = await Station.open({ configured: [addressOf(9, '60.9.0.1')] })
    for (let i = 1; i <= 4; i++) station.node(i)
    station.manager.start()
    await station.pass(2_000)
    station.manager.stop()
    const dials = station.dialer.dials.length
    for (const connection of station.dialer.connections()) station.dialer.close(connection)
    station.manager.poke()
    await station.pass(120_000)
    expect(station.dialer.dials.length).toBe(dials)
    expect(station.arrive(30, '80.0.0.1')).toBeUndefined()
  })
})
