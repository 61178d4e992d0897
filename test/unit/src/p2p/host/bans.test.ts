import { describe, expect, it } from 'vitest'
import { type Ip, parseIp } from '../../../../../src/p2p/host/address-groups.ts'
import { BANS_MAX, Bans } from '../../../../../src/p2p/host/bans.ts'
import { RecordWriter } from '../../../../../src/p2p/host/peer-records.ts'
import { MemoryRecords, peerId } from '../../../../support/peering.ts'

const HOUR_MS = 3_600_000
const ip = (text: string): Ip => parseIp(text) as Ip

class Court {
  nowMs = 1_700_000_000_000
  readonly records: MemoryRecords
  readonly writer: RecordWriter
  readonly bans: Bans

  constructor(entries = new Map<string, string>()) {
    this.records = new MemoryRecords(entries)
    this.writer = new RecordWriter(this.records, (error) => {
      throw error
    })
    this.bans = new Bans({ now: () => this.nowMs }, this.writer)
  }

  async reopened(laterMs = 0): Promise<Court> {
    await this.writer.flush()
    const next = new Court(this.records.entries)
    next.nowMs = this.nowMs + laterMs
    await next.bans.load(next.records)
    await next.writer.flush()
    return next
  }
}

describe('bans', () => {
  it('hold for their time and no longer', () => {
    const court = new Court()
    expect(court.bans.ban(peerId(1), HOUR_MS, 'malformed')).toMatchObject({ ok: true })
    expect([court.bans.isBannedPeer(peerId(1)), court.bans.isBannedPeer(peerId(2))]).toEqual([true, false])
    court.nowMs += HOUR_MS - 1
    expect(court.bans.isBannedPeer(peerId(1))).toBe(true)
    court.nowMs += 1
    expect([court.bans.isBannedPeer(peerId(1)), court.bans.list()]).toEqual([false, []])
  })

  it('by address mean the machine: an IPv4 address however it is written, a /64 of IPv6', () => {
    const { bans } = new Court()
    bans.ban('8.8.4.4', HOUR_MS, 'x')
    bans.ban('2a00:1:2:3::1', HOUR_MS, 'x')
    expect(['8.8.4.4', '::ffff:8.8.4.4', '8.8.4.5'].map((text) => bans.isBannedIp(ip(text)))).toEqual([
      true,
      true,
      false,
    ])
    expect(['2a00:1:2:3:9::9', '2a00:1:2:4::1'].map((text) => bans.isBannedIp(ip(text)))).toEqual([true, false])
  })

  it('of those who misbehave include no address that many may share', () => {
    const { bans } = new Court()
    bans.banPeer(peerId(1), ['127.0.0.1', '10.0.0.1', '100.64.0.9', 'fe80::1', '8.8.4.4'].map(ip), HOUR_MS, 'bad-block')
    expect(bans.list().map(({ target }) => target)).toEqual([peerId(1), '8.8.4.4'])
  })

  it('are refused for what is neither a peer nor an address', () => {
    const { bans } = new Court()
    for (const text of ['', 'x', peerId(1).slice(1), '1.2.3', '/ip4/1.2.3.4', 'é'.repeat(500)])
      expect(bans.ban(text, HOUR_MS, 'x')).toMatchObject({ ok: false, fault: { code: 'p2p/address' } })
    expect(bans.list()).toEqual([])
  })

  it('are lifted by id or address, and not twice', () => {
    const { bans } = new Court()
    bans.ban(peerId(1), HOUR_MS, 'x')
    bans.ban('8.8.4.4', HOUR_MS, 'y')
    expect(bans.lift(peerId(1))).toMatchObject({ ok: true, value: { target: peerId(1), reason: 'x' } })
    expect(bans.lift('::ffff:8.8.4.4')).toMatchObject({ ok: true, value: { target: '8.8.4.4' } })
    for (const text of [peerId(1), '8.8.4.4', 'x'])
      expect(bans.lift(text)).toMatchObject({ ok: false, fault: { code: 'p2p/not-banned' } })
  })

  it('are never shortened by another', () => {
    const court = new Court()
    court.bans.ban(peerId(1), 10 * HOUR_MS, 'the operator')
    expect(court.bans.ban(peerId(1), HOUR_MS, 'flood')).toMatchObject({ value: { reason: 'the operator' } })
    expect(court.bans.ban(peerId(1), 20 * HOUR_MS, 'flood')).toMatchObject({ value: { reason: 'flood' } })
    expect(court.bans.list().map(({ untilMs }) => untilMs)).toEqual([court.nowMs + 20 * HOUR_MS])
  })

  it('outlive a restart, those that ended or do not read excepted', async () => {
    const court = new Court()
    court.bans.ban(peerId(1), HOUR_MS, 'short')
    court.nowMs += 1
    court.bans.ban('8.8.4.4', 3 * HOUR_MS, 'long')
    court.nowMs += 1
    court.bans.ban(peerId(2), 3 * HOUR_MS, 'long')
    court.bans.ban(peerId(3), 3 * HOUR_MS, 'lifted')
    court.bans.lift(peerId(3))
    court.records.entries.set('ban/x', '{"target":"x"}')
    court.records.entries.set(`ban/${peerId(9)}`, JSON.stringify({ ...court.bans.list()[0], target: peerId(8) }))
    const next = await court.reopened(2 * HOUR_MS)
    expect(next.bans.list()).toEqual(court.bans.list().filter(({ reason }) => reason === 'long'))
    expect(next.bans.list().map(({ target }) => target)).toEqual([peerId(2), '8.8.4.4'])
    expect(next.records.entries.size).toBe(2)
  })

  it('are bounded: what ends first makes room', () => {
    const { bans } = new Court()
    bans.ban(peerId(0), 1_000 * HOUR_MS, 'the operator')
    for (let i = 1; i <= BANS_MAX + 10; i++) bans.ban(peerId(i), HOUR_MS + i, 'flood')
    expect(bans.list().length).toBe(BANS_MAX)
    expect([0, 1, 11, 12, BANS_MAX + 10].map((i) => bans.isBannedPeer(peerId(i)))).toEqual([
      true,
      false,
      false,
      true,
      true,
    ])
  })
})
