import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import { Burdens } from '../../../rpc/edge/burdens.ts'
import { type Carrier, carriedPayment } from '../../../rpc/edge/carried-payment.ts'
import { addressKey, holderOf, limitKeyOf } from '../../../rpc/edge/client-key.ts'
import { Overload, WORK_KINDS } from '../../../rpc/edge/overload.ts'
import { KEYS_MAX, RateCounter, RateLimiter } from '../../../rpc/edge/rate-limiter.ts'
import type { MarketApi } from '../../../rpc/node/node-api.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../rpc/server/limits.ts'
import { sellingNode, shownRail } from '../../support/discovery-node.ts'
import { closeMarkets } from '../../support/market.ts'

describe('what an address is limited as', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['no address', 'no address'],
    ['a:b', 'a:b'],
  ])('%s is %s', (address, key) => expect(addressKey(address)).toBe(key))

  it('is one key for a network of IPv6 and another for its neighbour', () => {
    expect(addressKey('2001:db8:1:2:ffff::1')).toBe(addressKey('2001:db8:1:2::1'))
    expect(addressKey('2001:db8:1:3::1')).not.toBe(addressKey('2001:db8:1:2::1'))
  })
})

describe('the network that an address is in', () => {
  it.each([
    ['192.0.2.7', '192.0.2'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1'],
    ['::1', '0:0:0'],
    ['operator', 'operator'],
  ])('of %s is %s', (address, network) => {
    const key = addressKey(address)
    expect(holderOf(key)).toEqual({ address: key, network })
  })
})

describe('who a request is limited as', () => {
  const keys = {
    'Bearer one': 'operator',
    'Bearer two': 'operator',
    'Bearer three': 'wallet-a',
    'Bearer four': 'wallet-b',
  }
  const identify = (shown: string | undefined) => {
    const owner = (keys as Readonly<Record<string, string>>)[shown ?? '']
    return owner === undefined ? fail(fault('chat/invalid-key', { reason: 'none' })) : ok({ id: shown, owner })
  }
  const node = { operatorToken: 'token', chat: { keys: { identify } } } as unknown as Parameters<typeof limitKeyOf>[0]
  const keyOf = (authorization: string | undefined, address: string): string =>
    limitKeyOf(node, { authorization, address }).key

  it('is the operator, and each key that he made, wherever it is used', () => {
    expect(limitKeyOf(node, { authorization: 'Bearer token', address: '192.0.2.7' })).toEqual({
      key: 'operator',
      isOperator: true,
    })
    expect(keyOf('Bearer one', '192.0.2.7')).toBe(keyOf('Bearer one', '192.0.2.8'))
    expect(keyOf('Bearer one', '192.0.2.7')).not.toBe(keyOf('Bearer two', '192.0.2.7'))
  })

  it('is the address for all other callers: any number of wallets counts as one', () => {
    const shown = ['Bearer three', 'Bearer four', 'Bearer made-up', undefined]
    expect(shown.map((one) => keyOf(one, '2001:db8:1:2::9'))).toEqual(shown.map(() => '2001:db8:1:2::/64'))
  })
})

describe('a rate limit', () => {
  const counter = () => new RateCounter('quote', 3)

  it('counts down to nothing, refuses, and begins anew a minute after the first', () => {
    const quotes = counter()
    const limits = [0, 20_000, 59_000].map((nowMs) => quotes.take('a', nowMs))
    expect(limits.map(({ allowed, limit }) => [allowed, limit])).toEqual([
      [true, '"quote";r=2;t=60'],
      [true, '"quote";r=1;t=40'],
      [true, '"quote";r=0;t=1'],
    ])
    expect(quotes.take('a', 59_500)).toEqual({
      ...{ allowed: false, seconds: 1, policy: '"quote";q=3;w=60', limit: '"quote";r=0;t=1' },
    })
    expect(quotes.take('b', 59_500).allowed).toBe(true)
    expect(quotes.take('a', 60_000).limit).toBe('"quote";r=2;t=60')
  })

  it('keeps buckets apart', () => {
    const rates = new RateLimiter({ ...DEFAULT_HTTP_LIMITS.ratesPerMinute, quote: 1, settle: 1 })
    const a = holderOf('192.0.2.1')
    expect([rates.take('quote', a, 0), rates.take('quote', a, 0), rates.take('settle', a, 0)]).toMatchObject([
      { allowed: true },
      { allowed: false },
      { allowed: true },
    ])
  })

  it.each([
    ['a /48 of IPv6', (i: number) => `2001:db8:1:${i.toString(16)}::1`, '2001:db8:2::1'],
    ['a /24 of IPv4', (i: number) => `192.0.2.${i}`, '198.51.100.1'],
  ])('counts all addresses of %s as eight of them', (_, addressOf, elsewhere) => {
    const rates = new RateLimiter({ ...DEFAULT_HTTP_LIMITS.ratesPerMinute, quote: 3 })
    const take = (address: string, nowMs: number): boolean =>
      rates.take('quote', holderOf(addressKey(address)), nowMs).allowed
    const verdicts = Array.from({ length: 200 }, (__, i) => take(addressOf(i), 0))
    expect(verdicts).toEqual(verdicts.map((___, i) => i < 24))
    expect(rates.take('quote', holderOf(addressKey(addressOf(7))), 20_000)).toEqual({
      ...{ allowed: false, seconds: 40, policy: '"quote";q=24;w=60', limit: '"quote";r=0;t=40' },
    })
    expect([take(elsewhere, 0), take(addressOf(7), 60_000)]).toEqual([true, true])
  })

  it('counts keys and names, which are no addresses, only by themselves', () => {
    const rates = new RateLimiter({ ...DEFAULT_HTTP_LIMITS.ratesPerMinute, quote: 1 })
    expect(rates.take('quote', holderOf('key a'), 0).allowed).toBe(true)
    expect([rates.take('quote', holderOf('key a'), 0).policy, rates.size]).toEqual(['"quote";q=1;w=60', 1])
  })

  it('remembers so many keys and no more, and forgets those whose minute is over', () => {
    const quotes = counter()
    for (let i = 0; i < KEYS_MAX + 1_000; i++) quotes.take(`key ${i}`, i / 1_000)
    expect(quotes.size).toBe(KEYS_MAX)
    for (let i = 0; i < KEYS_MAX / 2; i++) quotes.take('late', 200_000 + 100_000 * i)
    expect(quotes.size).toBe(1)
  })
})

describe('a payment that a request brings', () => {
  const SERVICE = 'node-test-again'
  const txId = 'ab'.repeat(32)
  const NATIVE = { scheme: 'native-x402', payload: { txId } }
  const HEADER = Buffer.from(JSON.stringify(NATIVE)).toString('base64')
  let api: MarketApi
  beforeAll(async () => {
    api = (await sellingNode({ stable: shownRail() })).node.market as MarketApi
  })
  afterAll(closeMarkets)

  const brought = (change: Partial<Carrier>, market: MarketApi | null = api): boolean =>
    carriedPayment(market, { headers: {}, body: {}, door: 'plain', ...change }) !== null
  const tool = (params: unknown, method = 'tools/call') => ({ jsonrpc: '2.0', id: 1, method, params })
  const message = (change: object, method = 'SendMessage') => ({
    ...{ jsonrpc: '2.0', id: 1, method },
    params: { message: { messageId: 'm', role: 'user', parts: [{ text: `${SERVICE} ok` }], ...change } },
  })
  const PAID = { metadata: { 'x402.payment.payload': NATIVE } }

  it('is found where the door that it came to would look for it', () => {
    expect(brought({ body: { request: '', payment: { txId } } })).toBe(true)
    for (const name of ['payment-signature', 'x-payment']) expect(brought({ headers: { [name]: HEADER } })).toBe(true)
    const messages = [
      tool({ name: SERVICE, _meta: { 'x402/payment': NATIVE } }),
      tool({ name: SERVICE, arguments: { payment: { txId } } }),
      message(PAID),
      message(PAID, 'message/send'),
      message({ ...PAID, parts: [{ data: { serviceId: SERVICE } }] }),
      message({ ...PAID, parts: [{ text: 'here' }], taskId: 'a task' }),
    ]
    expect(messages.map((body) => brought({ body, door: 'json-rpc' }))).toEqual(messages.map(() => true))
  })

  it('is none that no door would take, of a call that costs nothing, or where nothing is sold', () => {
    const plain = [{}, null, undefined, 'text', 7, [], { payment: null }, { payment: 1 }, { payment: { txId: 'x' } }]
    const marked = [{ params: { _meta: { 'x402/payment': NATIVE } } }, message(PAID)]
    for (const body of [...plain, ...marked]) expect(brought({ body }), JSON.stringify(body)).toBe(false)
    for (const value of ['x', 'e30=', HEADER.slice(1)]) expect(brought({ headers: { 'x-payment': value } })).toBe(false)
    const messages = [
      ...plain,
      { ...tool({ name: SERVICE }), payment: { txId } },
      tool({ name: 'search_services', _meta: { 'x402/payment': NATIVE } }),
      tool({ name: 'node-no-such', arguments: { payment: { txId } } }),
      tool({ name: SERVICE, _meta: { 'x402/payment': true } }),
      tool({ name: SERVICE, _meta: { 'x402/payment': NATIVE } }, 'tools/list'),
      message({ ...PAID, parts: [{ text: 'what do you sell?' }] }),
      message({ ...PAID, parts: [{ data: { serviceId: [[SERVICE]] } }] }),
      message({ metadata: { 'x402.payment.payload': { scheme: 'exact', payload: {} } } }),
      message(PAID, 'GetTask'),
    ]
    for (const body of messages)
      expect(brought({ body, door: 'json-rpc', headers: { 'x-payment': HEADER } }), JSON.stringify(body)).toBe(false)
    expect(brought({ body: { payment: { txId } } }, null)).toBe(false)
  })
})

describe('the burden of a network', () => {
  const MIB = 1_048_576

  it('is whole for who takes most, and next to nothing for who takes little', () => {
    const burdens = new Burdens()
    for (let i = 0; i < 100; i++) burdens.read('hog', MIB, 0)
    for (let i = 0; i < 5; i++) burdens.worked('honest', 'read', 0)
    expect(burdens.weightOf('hog', 0)).toBe(1)
    expect(burdens.weightOf('honest', 0)).toBeLessThan(0.02)
    expect(burdens.weightOf('new', 0)).toBe(0)
  })

  it('is whole for each of a crowd that is alike, also beside many who take nearly nothing', () => {
    const burdens = new Burdens()
    for (let i = 0; i < 50; i++) burdens.read(`one of many ${i}`, 10 * MIB, 0)
    for (let i = 0; i < 1_000; i++) burdens.refused(`idle ${i}`, 0)
    expect(burdens.weightOf('one of many 7', 0)).toBeGreaterThan(0.9)
    expect(burdens.weightOf('idle 7', 0)).toBeLessThan(0.01)
  })

  it('is forgotten, and bounded in memory', () => {
    const burdens = new Burdens()
    for (let i = 0; i < 100_000; i++) burdens.read(`hog ${i}`, MIB, 0)
    burdens.read('honest', MIB, 60_000)
    expect(burdens.weightOf('honest', 60_000)).toBe(1)
  })

  it('is what requests take, not how many they are', () => {
    const burdens = new Burdens()
    for (let i = 0; i < 40; i++) burdens.worked('dear', 'list', 0)
    for (let i = 0; i < 130; i++) burdens.worked('customer', 'quote', 0)
    expect(burdens.weightOf('dear', 0)).toBe(1)
    expect(burdens.weightOf('customer', 0)).toBeLessThan(0.35)
  })

  it('cannot be hidden behind that of another network of the same attacker', () => {
    const burdens = new Burdens()
    for (let i = 0; i < 83; i++) burdens.worked('dear', 'list', 0)
    for (let i = 0; i < 1_600; i++) burdens.refused('rod', 0)
    expect(burdens.weightOf('dear', 0)).toBe(1)
    const overload = new Overload({ delayMsMax: 60 })
    overload.close()
    for (let i = 0; i < 20; i++) overload.observe(90, 50)
    const admitted = Array.from({ length: 100 }, () => overload.admits('list', 0, 0)).filter(Boolean).length
    expect(admitted).toBeLessThan(25)
  })

  it('spares others where a node gives work up', () => {
    const overload = new Overload({ delayMsMax: 60 })
    overload.close()
    for (let i = 0; i < 20; i++) overload.observe(90, 50)
    const admitted = (weight: number): number =>
      Array.from({ length: 100 }, () => overload.admits('quote', 0, weight)).filter(Boolean).length
    expect([admitted(1), admitted(0.05)]).toEqual([0, 100])
  })
})

describe('an overload', () => {
  const LIMITS = { delayMsMax: 60 }
  /** How many of a hundred requests of each kind are admitted. */
  const admitted = (overload: Overload): readonly number[] =>
    WORK_KINDS.map((kind) => Array.from({ length: 100 }, () => overload.admits(kind, 0)).filter(Boolean).length)

  it('gives up what is cheap to repeat first, and what was paid for never', () => {
    const overload = new Overload(LIMITS)
    overload.close()
    const seen = [admitted(overload)]
    for (let i = 0; i < 20; i++) {
      overload.observe(90, 50)
      seen.push(admitted(overload))
    }
    expect(seen[0]).toEqual([100, 100, 100, 100, 100, 100, 100])
    for (const shares of seen) expect([...shares].sort((a, b) => a - b)).toEqual(shares)
    for (const [before, after] of seen.slice(1).map((shares, i) => [seen[i] as readonly number[], shares] as const)) {
      for (const [i, share] of after.entries()) expect(share).toBeLessThanOrEqual((before[i] as number) + 1)
    }
    expect(seen.at(-1)).toEqual([0, 0, 0, 0, 100, 100, 100])
    expect(overload.retrySeconds).toBe(5)
  })

  it('does not mind one late turn, and ends more slowly than it began, the more so the nearer it is to the limit', () => {
    const overload = new Overload(LIMITS)
    overload.close()
    overload.observe(70, 50)
    expect(admitted(overload)).toEqual([100, 100, 100, 100, 100, 100, 100])
    /** How many samples it takes from full pressure to none. */
    const untilOver = (delayMs: number): number => {
      for (let i = 0; i < 10; i++) overload.observe(1_000, 50)
      expect(overload.pressure).toBe(1)
      let samples = 0
      for (; overload.pressure > 0 && samples < 10_000; samples++) overload.observe(delayMs, 50)
      return samples
    }
    const [free, late, later] = [1, 40, 55].map(untilOver) as [number, number, number]
    expect(free).toBeGreaterThan(40)
    expect(late).toBeGreaterThan(free * 1.5)
    expect(later).toBeGreaterThan(late * 1.5)
    expect(later).toBeLessThan(10_000)
    expect(admitted(overload)).toEqual([100, 100, 100, 100, 100, 100, 100])
  })

  it('ends for few who ask again and again, however busy others keep the machine', () => {
    const overload = new Overload(LIMITS)
    overload.close()
    for (let i = 0; i < 10; i++) overload.observe(1_000, 50)
    for (let i = 0; i < 60; i++) overload.observe(i % 2 === 0 ? 40 : 200, 4)
    expect(overload.pressure).toBe(0)
  })

  it('is seen in the turn that goes on, and in a long one as often as it is long', () => {
    let workedMs = 0
    const overload = new Overload(LIMITS, () => workedMs)
    overload.close()
    const nowMs = performance.now()
    for (let i = 0; i < 20; i++) overload.arrived()
    const admits = (laterMs: number): number =>
      WORK_KINDS.filter((kind) => [1, 2].every(() => overload.admits(kind, nowMs + laterMs))).length
    expect([admits(0), admits(10_000)]).toEqual([7, 7])
    workedMs = 10_000
    expect([admits(0), admits(10_000)]).toEqual([7, 3])
    expect(overload.pressure).toBe(0)
    overload.observe(70, 50, 100)
    expect(overload.pressure).toBe(1)
  })

  it('is none, or ends, where the loop rests in between: then others have the processor', () => {
    const overload = new Overload(LIMITS)
    overload.close()
    for (let i = 0; i < 20; i++) overload.observe(1_000, 50, 10, 0.8)
    expect(overload.pressure).toBe(0)
    overload.observe(1_000, 50, 100)
    expect(overload.pressure).toBe(1)
    for (let i = 0; i < 60; i++) overload.observe(1_000, 50, 10, 0.8)
    expect(overload.pressure).toBe(0)
  })

  it('is none where few requests came: then the machine is busy with something else', () => {
    const overload = new Overload(LIMITS)
    overload.close()
    for (let i = 0; i < 20; i++) overload.observe(1_000, 4)
    expect(overload.pressure).toBe(0)
  })
})
