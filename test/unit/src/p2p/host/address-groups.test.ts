import { describe, expect, it } from 'vitest'
import {
  formatIp,
  groupOf,
  hostOf,
  type Ip,
  isDialable,
  isExempt,
  mayReachOut,
  mayTakeIn,
  netOf,
  parseIp,
  rangeOf,
} from '../../../../../src/p2p/host/address-groups.ts'

const ip = (text: string): Ip => {
  const parsed = parseIp(text)
  if (parsed === undefined) throw new Error(`no IP address: ${text}`)
  return parsed
}

describe('IP addresses', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:0DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['fe80::', 'fe80::'],
    ['::ffff:1.2.3.4', '::ffff:102:304'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['10:0:0:0:0:0:0:100', '10::100'],
  ])('%s is written %s', (text, canonical) => {
    expect(formatIp(ip(text))).toBe(canonical)
    expect(ip(canonical)).toEqual(ip(text))
  })

  it.each([
    ...['', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.256', '1.2.3.4 ', '0x1.2.3.4', '1.2.3.-4', 'a.b.c.d'],
    ...[':', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8', '12345::', 'g::', '::1%eth0'],
    ...['1.2.3.4::', '::1.2.3.4:5', '1:2:3:4:5:6:7:1.2.3.4', '1'.repeat(60)],
  ])('%j is none', (text) => {
    expect(parseIp(text)).toBeUndefined()
  })

  it.each([
    ['8.8.8.8', 'public'],
    ['9.255.255.255', 'public'],
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['11.0.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.64.0.0', 'cgnat'],
    ['100.127.255.255', 'cgnat'],
    ['100.128.0.0', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.1.1', 'link-local'],
    ['172.15.255.255', 'public'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
    ['192.168.1.1', 'private'],
    ['192.169.0.0', 'public'],
    ['198.17.255.255', 'public'],
    ['198.18.0.1', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['203.0.113.9', 'reserved'],
    ['223.255.255.255', 'public'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['0.0.0.0', 'reserved'],
    ['::', 'reserved'],
    ['::1', 'loopback'],
    ['fc00::1', 'private'],
    ['fdff::1', 'private'],
    ['fe80::1', 'link-local'],
    ['febf::1', 'link-local'],
    ['fec0::1', 'reserved'],
    ['ff02::1', 'multicast'],
    ['2a00:1450::1', 'public'],
    ['2001:4860::8888', 'public'],
    ['2001:db8::1', 'reserved'],
    ['2001::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:10.1.1.1', 'private'],
    ['::ffff:8.8.8.8', 'public'],
    ['64:ff9b::192.168.0.1', 'private'],
    ['2002:0a00:0001::1', 'private'],
    ['2002:0808:0808::1', 'public'],
  ])('%s is %s', (text, range) => {
    expect(rangeOf(ip(text))).toBe(range)
  })

  it('of private ranges are nodes where the network allows it, and nowhere else', () => {
    for (const text of ['127.0.0.1', '10.1.2.3', '169.254.0.1', '100.64.0.1', '::1', 'fd00::1', 'fe80::1']) {
      expect([isDialable(ip(text), true), isDialable(ip(text), false)], text).toEqual([true, false])
      expect([isExempt(ip(text), true), isExempt(ip(text), false)], text).toEqual([true, false])
    }
    for (const text of ['224.0.0.1', '0.0.0.0', '2001:db8::1'])
      expect([isDialable(ip(text), true), isDialable(ip(text), false)], text).toEqual([false, false])
    expect([isDialable(ip('8.8.8.8'), true), isExempt(ip('8.8.8.8'), true)]).toEqual([true, false])
  })
})

describe('groups of addresses', () => {
  it('are /16 for outbound, the address and /24 for inbound', () => {
    expect(groupOf(ip('1.2.3.4'))).toBe(groupOf(ip('1.2.255.255')))
    expect(groupOf(ip('1.2.3.4'))).not.toBe(groupOf(ip('1.3.3.4')))
    expect(hostOf(ip('1.2.3.4'))).not.toBe(hostOf(ip('1.2.3.5')))
    expect(netOf(ip('1.2.3.4'))).toBe(netOf(ip('1.2.3.255')))
    expect(netOf(ip('1.2.3.4'))).not.toBe(netOf(ip('1.2.4.4')))
  })

  it('of IPv6 are /32, /64 and /48', () => {
    expect(groupOf(ip('2a00:1:2:3::4'))).toBe(groupOf(ip('2a00:1:ffff::1')))
    expect(groupOf(ip('2a00:1::'))).not.toBe(groupOf(ip('2a00:2::')))
    expect(hostOf(ip('2a00:1:2:3::4'))).toBe(hostOf(ip('2a00:1:2:3:ffff::')))
    expect(hostOf(ip('2a00:1:2:3::4'))).not.toBe(hostOf(ip('2a00:1:2:4::4')))
    expect(netOf(ip('2a00:1:2:3::4'))).toBe(netOf(ip('2a00:1:2:ffff::')))
    expect(netOf(ip('2a00:1:2::'))).not.toBe(netOf(ip('2a00:1:3::')))
  })

  it('see the IPv4 address in an IPv6 one', () => {
    for (const text of ['::ffff:1.2.3.4', '64:ff9b::1.2.3.4', '2002:102:304:5::6']) {
      expect(hostOf(ip(text)), text).toBe(hostOf(ip('1.2.3.4')))
      expect(groupOf(ip(text)), text).toBe(groupOf(ip('1.2.9.9')))
    }
  })

  it('bound connections', () => {
    expect(mayReachOut([ip('1.2.3.4')], ip('1.2.9.9'), false)).toBe(false)
    expect(mayReachOut([ip('1.2.3.4')], ip('1.3.9.9'), false)).toBe(true)
    expect(mayReachOut([ip('10.0.0.1')], ip('10.0.0.1'), true)).toBe(true)
    expect(mayTakeIn([ip('1.2.3.4')], ip('1.2.3.4'), false)).toBe(true)
    expect(mayTakeIn([ip('1.2.3.4'), ip('1.2.3.4')], ip('1.2.3.4'), false)).toBe(false)
    const net = Array.from({ length: 8 }, (_, i) => ip(`1.2.3.${i}`))
    expect(mayTakeIn(net.slice(1), ip('1.2.3.9'), false)).toBe(true)
    expect(mayTakeIn(net, ip('1.2.3.9'), false)).toBe(false)
    expect(mayTakeIn(Array(20).fill(ip('127.0.0.1')), ip('127.0.0.1'), true)).toBe(true)
    expect(mayTakeIn(Array(20).fill(ip('127.0.0.1')), ip('127.0.0.1'), false)).toBe(false)
  })
})
