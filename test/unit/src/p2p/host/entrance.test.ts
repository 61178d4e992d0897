import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Entrance, HANDSHAKES, type InboundSocket, PENDING } from '../../../../../src/p2p/host/entrance.ts'
import { until } from '../../../../support/processes.ts'

/** A socket from an address, and its fate. */
class Caller extends EventTarget {
  readonly remoteAddr: string
  readonly socket = new EventEmitter()
  status = 'open'
  paused = false
  admitted: boolean | null = null

  constructor(ip: string) {
    super()
    this.remoteAddr = `/${ip.includes(':') ? 'ip6' : 'ip4'}/${ip}/tcp/1`
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  abort(): void {
    this.status = 'aborted'
    this.dispatchEvent(new Event('close'))
  }
}

function scene(isKnown: (address: string) => boolean = () => false) {
  const time = { nowMs: 1_000_000 }
  const entrance = new Entrance({ clock: { now: () => time.nowMs }, allowPrivate: false, isKnown })
  const arrive = async (ip: string, speaks = true): Promise<Caller> => {
    const caller = new Caller(ip)
    void entrance.admit(caller as unknown as InboundSocket).then((admitted) => {
      caller.admitted = admitted
    })
    if (speaks) caller.socket.emit('data', new Uint8Array(1))
    await setImmediate()
    return caller
  }
  /** Uses up the share of all, from different networks. */
  const exhaust = async (): Promise<void> => {
    for (let i = 0; i < (HANDSHAKES.allShare * 1_000) / HANDSHAKES.ms; i++)
      expect((await arrive(`50.0.${i}.1`)).admitted).toBe(true)
  }
  return { time, entrance, arrive, exhaust }
}

describe('the entrance', () => {
  it('counts a /64 of IPv6 as one machine and a /48 as one net', async () => {
    const { arrive } = scene()
    const ofHost = [1, 2, 3].map((i) => arrive(`2a00:1:2:3::${i}`, false))
    expect((await Promise.all(ofHost)).map(({ status }) => status)).toEqual(['aborted', 'open', 'open'])
    const ofNet: Caller[] = []
    for (let i = 0; i < 20; i++) ofNet.push(await arrive(`2a00:1:2:${(16 + i).toString(16)}::1`, false))
    expect(ofNet.filter(({ status }) => status === 'open').length).toBe(PENDING.perNet)
    const mapped = [1, 2, 3].map(() => arrive(`::ffff:60.1.1.9`, false))
    expect((await Promise.all(mapped)).map(({ status }) => status)).toEqual(['aborted', 'open', 'open'])
  })

  it('ends the oldest of the most crowded net where it is full', async () => {
    const { arrive } = scene()
    const alone = await arrive('9.9.9.9', false)
    const crowd = await Promise.all([1, 2, 3].map((i) => arrive(`8.8.8.${i}`, false)))
    for (let i = 0; i < PENDING.all - 4; i++) await arrive(`70.${i}.1.1`, false)
    await arrive('71.1.1.1', false)
    expect([alone, ...crowd].map(({ status }) => status)).toEqual(['open', 'aborted', 'open', 'open'])
  })

  it('charges a net for what a connection from there owed when it ended', async () => {
    const { time, entrance, arrive } = scene()
    entrance.charge('/ip4/60.0.0.1/tcp/1', HANDSHAKES.netShare * 1_000 + HANDSHAKES.ms)
    const [same, other] = [await arrive('60.0.0.2'), await arrive('60.0.1.2')]
    expect([same.admitted, other.admitted]).toEqual([null, true])
    time.nowMs += 1_000
    await until('it is let in', () => same.admitted, { everyMs: 5 })
  })

  it('lets in first those of the net that used least in the last minute, and known machines from a reserve', async () => {
    const { time, arrive, exhaust } = scene((address) => address.startsWith('/ip4/99.'))
    await exhaust()
    const used = [await arrive('50.0.1.2'), await arrive('50.0.2.2')]
    const fresh = await arrive('60.0.0.1')
    expect([...used, fresh].map(({ admitted, paused }) => [admitted, paused])).toEqual(Array(3).fill([null, true]))
    expect((await arrive('99.1.1.1')).admitted).toBe(true)
    time.nowMs += HANDSHAKES.ms / HANDSHAKES.allShare
    await until('one is let in', () => fresh.admitted === true, { everyMs: 5 })
    expect([fresh.paused, ...used.map(({ admitted }) => admitted)]).toEqual([false, null, null])
    time.nowMs += 1_000
    await until('the others are', () => used.every(({ admitted }) => admitted === true), { everyMs: 5 })
  })

  it('ends no socket of a known machine for others, however many of its net or of all come', async () => {
    const { arrive } = scene((address) => /\/(99\.1\.1\.1|98\.1\.1\.\d)\//.test(address))
    const known = await arrive('99.1.1.1', false)
    for (let i = 2; i < 30; i++) await arrive(`99.1.1.${i}`, false)
    for (let i = 0; i < 2 * PENDING.all; i++) await arrive(`${70 + (i >> 8)}.${i & 255}.1.1`, false)
    expect(known.status).toBe('open')
    const full = await Promise.all(Array.from({ length: PENDING.perNet }, (_, i) => arrive(`98.1.1.${i}`, false)))
    expect((await arrive('98.1.1.100', false)).admitted).toBe(false)
    expect(full.map(({ status }) => status)).toEqual(Array(PENDING.perNet).fill('open'))
    expect((await arrive('98.1.1.9', false)).admitted).toBeNull()
    expect(full.map(({ status }) => status)).toEqual(['aborted', ...Array(PENDING.perNet - 1).fill('open')])
  })

  it('refuses connections that waited too long, and forgets those that left', async () => {
    const { arrive, exhaust, entrance } = scene()
    await exhaust()
    const [late, gone, upgraded] = [await arrive('60.0.0.1'), await arrive('60.0.1.1'), await arrive('60.0.2.1')]
    gone.abort()
    entrance.leave(upgraded)
    await setImmediate()
    expect([late.admitted, gone.admitted, upgraded.admitted]).toEqual([null, false, false])
    await until('it is refused', () => late.admitted === false, { everyMs: 20 })
  })

  it('refuses what comes from no IP address', async () => {
    const { entrance } = scene()
    const caller = { remoteAddr: '/dns4/x.example/tcp/1' } as unknown as InboundSocket
    expect(await entrance.admit(caller)).toBe(false)
  })
})
