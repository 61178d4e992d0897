import { beforeAll, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import type { Outside } from '../../../marketplace/ports/outside.ts'
import type { Readiness } from '../../../marketplace/ports/readiness.ts'
import type { ServiceContext } from '../../../marketplace/services/context.ts'
import { protocolDocument } from '../../../rpc/market/registry.ts'
import type { NodeApi } from '../../../rpc/node/node-api.ts'
import { ProviderPrices } from '../../../src/adapters/crypto-prices.ts'
import { ProviderKeys } from '../../../src/adapters/provider-keys.ts'
import { ProviderRates } from '../../../src/adapters/reference-rates.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { outsideOf } from '../../support/outside.ts'
import { until } from '../../support/processes.ts'
import { emptyServiceChain, serviceChain } from '../../support/service-chain.ts'
import { ask, resultOf, serviceNamed } from '../../support/service-results.ts'
import { steadyWallet } from '../../support/steady-keys.ts'
import { coingeckoUpstream, QUOTED_MS } from '../../support/upstreams/coingecko.ts'
import { describeService } from '../../support/upstreams/provider-suite.ts'
import { ecbUpstream, RATED_MS, REFERENCE_RATES } from '../../support/upstreams/reference-rates.ts'
import { Upstream } from '../../support/upstreams/upstream.ts'

const PRICES = 'node-crypto-prices'
const PRICE = 'node-crypto-price'
const RATES = 'node-fx-rates'

let context: ServiceContext
beforeAll(async () => {
  ;({ context } = await serviceChain())
})

const withOutside = (parts: Partial<Outside>): ServiceContext => ({ ...context, outside: outsideOf(parts) })

const coingeckoAt = (url: string): ProviderPrices =>
  new ProviderPrices({
    choices: [{ name: 'coingecko', url }],
    keys: new ProviderKeys(),
    clock: { now: () => QUOTED_MS },
    timers: systemTimers,
  })

/** A context with prices. The providers were checked; prices are not cached. */
async function priced(url: string) {
  const prices = coingeckoAt(url)
  await prices.checkAll()
  return { context: withOutside({ prices }), stop: () => prices.stop() }
}

const quotes = { handler: coingeckoUpstream, open: priced, hitsMax: 4 }
for (const [serviceId, request] of [
  [PRICES, ''],
  [PRICE, 'btc'],
] as const) {
  const verify = (result: object): void => expect(JSON.stringify(result)).toContain('67187.3358936566')
  describeService({ service: serviceNamed(serviceId), request, ...quotes, verify })
}

describeService({
  service: serviceNamed(RATES),
  request: '100 usd to eur',
  handler: ecbUpstream,
  open: async (url) => {
    const clock = { now: () => RATED_MS }
    const rates = new ProviderRates({ choices: [{ name: 'ecb', url }], clock, timers: systemTimers })
    await rates.checkAll()
    return { context: withOutside({ rates }), stop: () => rates.stop() }
  },
  verify: (result) => expect(result).toMatchObject({ conversion: { result: '95.675469' } }),
})

describe('prices of crypto assets', () => {
  it('come with the coin’s price, and unknown ones are named', async () => {
    const upstream = await Upstream.open(coingeckoUpstream)
    upstream.profile = ({ path }) => (path === '/global' ? '500' : 'ok')
    const { context: here, stop } = await priced(upstream.url)
    const result = await resultOf<Record<string, unknown>>(PRICES, 'anything', here)
    expect(result).toMatchObject({
      service: PRICES,
      source: { name: 'coingecko', stale: false, attribution: 'Data provided by CoinGecko' },
      native: { symbol: 'FAR', priceUsd: expect.any(Number), source: expect.stringContaining('FAR-FUSD') },
      majors: { BTC: { usd: 67187.3358936566, change24hPct: 3.6373 }, BNB: { change24hPct: null } },
      sources: ['coingecko'],
    })
    expect(result.unknown).toEqual(
      expect.arrayContaining(['globalMarketCapUsd', 'disagreementPct', 'majors.BNB.change24hPct']),
    )
    expect(await resultOf(PRICE, ' far ', here)).toMatchObject({
      symbol: 'FAR',
      usd: (result.native as { priceUsd: number }).priceUsd,
      source: { name: expect.stringContaining('pool FAR-FUSD'), stale: false },
    })
    stop()
    await upstream.close()
  })

  it('fail together if one of them is missing, but the others can be asked for one by one', async () => {
    const upstream = await Upstream.open(async (request) => {
      const { body } = await coingeckoUpstream(request)
      const { litecoin: _gone, ...others } = body as Record<string, unknown>
      return { body: others }
    })
    const { context: here, stop } = await priced(upstream.url)
    await expect(ask(PRICES, '', here)).rejects.toThrow('no provider has a price of LTC')
    await expect(ask(PRICE, 'LTC', here)).rejects.toThrow('no provider has a price of LTC')
    expect(await resultOf(PRICE, 'Bitcoin', here)).toMatchObject({ symbol: 'BTC', usd: 67187.3358936566 })
    stop()
    await upstream.close()
  })

  it.each(['', 'B', 'BTC ETH', 'DOGE', 'FUSD', '__proto__', 'CONSTRUCTOR', 'x'.repeat(33)])(
    'are refused before a payment for "%s"',
    async (request) => {
      const prices = { readiness: () => ({ available: true, engine: 'x' }) as const, latest: () => null }
      const majors = async () => fail(fault('provider/none', { what: 'prices', reason: 'not asked' }))
      expect(await ask(PRICE, request, withOutside({ prices: { ...prices, majors } }))).toHaveProperty('refused')
    },
  )

  it('are refused for the coin if it has no pool', async () => {
    const empty = await emptyServiceChain(2)
    const answer = await ask(PRICE, 'FAR', { ...empty.context, outside: context.outside })
    expect(answer).toEqual({ request: 'FAR', refused: 'there is no pool of FAR and dollars' })
  })

  it('are not offered without a configured provider', async () => {
    for (const request of [PRICE, PRICES]) {
      expect(await ask(request, 'BTC', context)).toHaveProperty('unavailable')
    }
  })
})

describe('the price feed of the protocol document', () => {
  const feed = (prices: Outside['prices']) => {
    const shop = { context: withOutside({ prices }), offers: [], operator: { payout: steadyWallet(2).address } }
    const node = { chain: context.chain, market: { shop, stable: null } } as unknown as NodeApi
    return (protocolDocument(node, 'http://here') as { priceFeed: Record<string, unknown> }).priceFeed
  }

  it('has the major assets and names their providers', async () => {
    const upstream = await Upstream.open(coingeckoUpstream)
    const prices = coingeckoAt(upstream.url)
    const before = feed(prices)
    expect(before.majors).toEqual({ BTC: null, ETH: null, SOL: null, BNB: null, LTC: null })
    await until('prices', () => prices.latest(), { everyMs: 5 })
    expect(feed(prices)).toEqual({
      source: `${before.source}; majors: coingecko`,
      live: true,
      asOf: prices.latest()?.source.fetchedAt,
      majors: { BTC: 67187.3358936566, ETH: 3484.12, SOL: 182.4, BNB: 571.01, LTC: 88.4 },
    })
    prices.stop()
    await upstream.close()
  })

  it('is live while the provider works, however old the last prices of an idle node are', async () => {
    const upstream = await Upstream.open(coingeckoUpstream)
    const prices = coingeckoAt(upstream.url)
    const told = await until('prices', () => prices.latest(), { everyMs: 5 })
    const fetchedAt = '2026-11-20T16:30:00.000Z'
    const old = { ...told, source: { ...told.source, fetchedAt, stale: true } }
    const idle = { readiness: prices.readiness, majors: prices.majors, latest: () => old }
    expect(feed(idle)).toMatchObject({ live: true, asOf: fetchedAt })
    const ill = (): Readiness => ({ available: false, reason: 'the provider refuses', requires: [] })
    expect(feed({ ...idle, readiness: ill })).toMatchObject({ live: false, asOf: fetchedAt })
    prices.stop()
    await upstream.close()
  })
})

describe('exchange rates', () => {
  const source = { name: 'ecb', fetchedAt: '2026-11-20T16:30:00.000Z', stale: false }
  const rates = (known = true): ServiceContext =>
    withOutside({
      rates: {
        readiness: () => ({ available: true, engine: 'ecb' }),
        known: () => (known ? (REFERENCE_RATES as never) : null),
        ask: async () => ok({ value: REFERENCE_RATES as never, source }),
      },
    })
  const conversion = async (request: string) =>
    (await resultOf<{ conversion: unknown }>(RATES, request, rates())).conversion

  it.each([
    ['1 EUR to USD', { amount: '1', from: 'EUR', to: 'USD', rate: '1.0452', result: '1.0452' }],
    // 100 / 1.0452 = 95.67546880979...
    ['100 usd TO eur', { amount: '100', from: 'USD', to: 'EUR', rate: '0.9567546881', result: '95.675469' }],
    // 161.86 / 1.0452 = 154.8603138155...
    ['2.50 USD to JPY', { amount: '2.5', from: 'USD', to: 'JPY', rate: '154.8603138', result: '387.150785' }],
    ['0 USD to JPY', { amount: '0', from: 'USD', to: 'JPY', rate: '154.8603138', result: '0' }],
    ['7 CHF to CHF', { amount: '7', from: 'CHF', to: 'CHF', rate: '1', result: '7' }],
    // 1.0452 / 16605.4 = 0.0000629433798...
    ['0.1 IDR to USD', { amount: '0.1', from: 'IDR', to: 'USD', rate: '0.00006294337986', result: '0.000006' }],
    [
      '1000000000000000 EUR to IDR',
      { amount: '1000000000000000', from: 'EUR', to: 'IDR', rate: '16605.4', result: '16605400000000000000' },
    ],
  ])('convert exactly: %s', async (request, expected) => {
    expect(await conversion(request)).toEqual(expected)
  })

  it('are listed against any currency, without that currency and with the euro', async () => {
    const result = await resultOf<{ base: string; rates: Record<string, string> }>(RATES, ' gbp ', rates())
    expect(result).toMatchObject({
      base: 'GBP',
      rateDate: '2026-11-20',
      rates: { EUR: '1.200869429', USD: '1.255148728' },
    })
    expect(Object.keys(result.rates)).toHaveLength(29)
    expect(Object.keys(result.rates)).not.toContain('GBP')
  })

  it('say that they are reference rates, not trade prices', async () => {
    expect(await resultOf(RATES, 'EUR', rates())).toMatchObject({
      note: expect.stringContaining('not tradable'),
      published: expect.stringContaining('working days'),
      source,
    })
  })

  it.each([
    '',
    'EURO',
    'EUR USD',
    'EUR to USD',
    '-1 EUR to USD',
    '1e3 EUR to USD',
    '1,5 EUR to USD',
    '1. EUR to USD',
    '01 EUR to USD',
    '0.123456789 EUR to USD',
    '1000000000000000.00000001 EUR to USD',
    '1 EUR to USD to JPY',
  ])('are refused before a payment for "%s"', async (request) => {
    expect(await ask(RATES, request, rates())).toHaveProperty('refused')
  })

  it('for a currency without a rate are refused if the list is known, else refunded', async () => {
    for (const request of ['XAU', '1 RUB to EUR', '1 EUR to RUB']) {
      expect(await ask(RATES, request, rates())).toMatchObject({
        refused: expect.stringContaining('no reference rate'),
      })
      await expect(ask(RATES, request, rates(false))).rejects.toThrow('no reference rate')
    }
  })
})
