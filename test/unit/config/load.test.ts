import { describe, expect, it } from 'vitest'
import { flagSource, resolveConfig, type Source } from '../../../config/load.ts'
import type { Config } from '../../../config/settings.ts'
import type { Result } from '../../../consensus/primitives/result.ts'

function configured(flags: Readonly<Record<string, string>>): Result<{ readonly config: Config }> {
  const source = flagSource(flags)
  if (!source.ok) throw new Error(JSON.stringify(source.fault))
  return resolveConfig([source.value as Source], '/home/somebody')
}

function marketOf(flags: Readonly<Record<string, string>>): Config['market'] {
  const resolved = configured(flags)
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.fault))
  return resolved.value.config.market
}

describe('settings in dollars', () => {
  it('are millionths inside; without bounds the coin may cost anything in a pool of ten thousand dollars', () => {
    expect(marketOf({})).toMatchObject({
      ...{ minPoolDepthMicros: 10_000_000_000n, nativeUsdMinMicros: null, nativeUsdMaxMicros: null },
    })
    const given = {
      'market-min-pool-depth-usd': '0',
      'market-native-usd-min': '0.05',
      'market-native-usd-max': '3.000001',
    }
    expect(marketOf(given)).toMatchObject({
      ...{ minPoolDepthMicros: 0n, nativeUsdMinMicros: 50_000n, nativeUsdMaxMicros: 3_000_001n },
    })
  })

  for (const value of ['', 'much', '-1', '0.0000001', '.5', '1e3', '$5', '007']) {
    it(`do not take "${value}"`, () => {
      expect(configured({ 'market-native-usd-max': value })).toMatchObject({
        ok: false,
        fault: {
          code: 'config/value',
          detail: { key: '--market-native-usd-max', value, allowed: 'dollars with at most 6 decimals, like 0.25' },
        },
      })
    })
  }
})

describe('addresses of the peer-to-peer network', () => {
  it.each([
    ['p2p-host', '0.0.0.0'],
    ['p2p-host', '::'],
    ['p2p-host', '::1'],
    ['p2p-host', '2001:db8::10.0.0.1'],
    ['p2p-announce', '/ip4/203.0.113.7/tcp/8421'],
    ['p2p-announce', '/ip6/2001:db8::1/tcp/1'],
    ['p2p-announce', '/dns4/node.example/tcp/65535'],
  ])('--%s %s is one', (name, value) => {
    expect(configured({ [name]: value }).ok).toBe(true)
  })

  it.each([
    ['p2p-host', 'localhost'],
    ['p2p-host', '10.0.0'],
    ['p2p-host', '127.0.0.1:8421'],
    ['p2p-host', '[::1]'],
    ['p2p-announce', '/ip4/203.0.113.7'],
    ['p2p-announce', '/ip4/203.0.113.7/udp/8421/quic'],
    ['p2p-announce', '/ip4/203.0.113.7/tcp/0'],
    ['p2p-announce', '/ip4/203.0.113.7/tcp/8421/p2p/12D3KooWSDmBy7FDnUJVXLnB7Zm4FR4uH73dii3HFvWmdUtZBmnW'],
  ])('--%s %s is none', (name, value) => {
    expect(configured({ [name]: value })).toMatchObject({ ok: false, fault: { code: 'config/value' } })
  })
})

describe('proxies that are believed', () => {
  const read = (value: string): unknown => {
    const resolved = configured({ 'rpc-trust-proxy': value })
    return resolved.ok ? resolved.value.config.rpc.trustProxy : resolved.fault
  }

  it('are whatever connects, none, or those that are named', () => {
    expect([read('true'), read('false')]).toEqual([true, false])
    expect(read('10.0.0.2')).toEqual(['10.0.0.2'])
    expect(read('10.0.0.0/8,2001:db8::1,fd00::/8,0.0.0.0/0')).toEqual([
      '10.0.0.0/8',
      '2001:db8::1',
      'fd00::/8',
      '0.0.0.0/0',
    ])
  })

  it.each([
    '',
    'yes',
    '1',
    'loopback',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.2, 10.0.0.3',
    'true,10.0.0.2',
    '::1%lo',
    '10.0.0.2:80',
  ])('%j is none', (value) => {
    expect(read(value)).toMatchObject({ code: 'config/value', detail: { key: '--rpc-trust-proxy' } })
  })
})

describe('settings that may hold a key', () => {
  const refused = (flags: Readonly<Record<string, string>>): unknown => {
    const resolved = configured(flags)
    return resolved.ok ? null : resolved.fault.detail.value
  }

  it('show a provider that does not exist, and never an address', () => {
    expect(refused({ 'providers-rates': 'exb' })).toBe('exb')
    expect(refused({ 'providers-rates': 'ecb,frankfurt=https://somebody:key@host/?key=1' })).toBe(
      'ecb,frankfurt=(hidden)',
    )
    expect(refused({ 'providers-search': 'https://somebody:key@host/?key=1' })).toBe('https:(hidden)')
    expect(refused({ 'providers-search': 'brave BSAabcdefghijklmnopqrst' })).toBe('(hidden)')
    expect(refused({ 'providers-ethereum': 'infura/key' })).toBe('(hidden)')
  })
})
