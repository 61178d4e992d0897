import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProviderPrices } from '../../../../src/adapters/crypto-prices.ts'
import { ProviderKeys } from '../../../../src/adapters/provider-keys.ts'
import { TestTime } from '../../../support/market-parts.ts'
import { until } from '../../../support/processes.ts'
import { binanceUpstream } from '../../../support/upstreams/binance.ts'
import { coinbaseUpstream } from '../../../support/upstreams/coinbase.ts'
import { coingeckoUpstream, QUOTED_MS } from '../../../support/upstreams/coingecko.ts'
import { Upstream } from '../../../support/upstreams/upstream.ts'

const NAMES = ['coingecko', 'coinbase', 'binance'] as const

describe('prices of the operator\u2019s providers together', () => {
  let upstreams: Record<(typeof NAMES)[number], Upstream>
  let time: TestTime
  let prices: ProviderPrices
  beforeEach(async () => {
    upstreams = {
      coingecko: await Upstream.open(coingeckoUpstream),
      coinbase: await Upstream.open(coinbaseUpstream),
      binance: await Upstream.open(binanceUpstream),
    }
    time = new TestTime()
    time.nowMs = QUOTED_MS
    prices = open(NAMES)
  })
  afterEach(async () => {
    prices.stop()
    await until('the end of what was under way', () => time.waiting === 0, { everyMs: 1 })
    for (const upstream of Object.values(upstreams)) await upstream.close()
  })

  const open = (names: readonly (typeof NAMES)[number][]): ProviderPrices =>
    new ProviderPrices({
      choices: names.map((name) => ({ name, url: upstreams[name].url })),
      keys: new ProviderKeys(),
      clock: time,
      timers: time,
    })
  const ask = () => prices.majors(AbortSignal.timeout(20_000))
  const asked = (): number => Object.values(upstreams).reduce((sum, upstream) => sum + upstream.count(), 0)

  it('are asked for at once and combined', async () => {
    const said = await ask()
    expect(said).toMatchObject({
      ok: true,
      value: {
        value: {
          majors: {
            BTC: { usd: 67190.01, change24hPct: 3.637278946773539 },
            ETH: { usd: 3484.12 },
            SOL: { usd: 182.41, change24hPct: 0 },
            BNB: { change24hPct: 0.7 },
            LTC: { usd: 88.41 },
          },
          globalMarketCapUsd: 2_721_226_850_772.63,
          sources: ['coingecko', 'coinbase', 'binance'],
        },
        source: { name: 'coingecko, coinbase, binance', stale: false },
      },
    })
    expect(said.ok && said.value.source.attribution).toContain('USDT')
    expect(said.ok && said.value.value.disagreementPct).toBeCloseTo((182.45 / 182.4 - 1) * 100, 10)
    expect(asked()).toBe(2 + 5 + 1)
  })

  it('are kept for 20 seconds', async () => {
    await Promise.all(Array.from({ length: 20 }, ask))
    time.pass(19_999)
    await ask()
    expect(asked()).toBe(8)
    time.pass(1)
    await ask()
    expect(asked()).toBe(8 + 7)
  })

  it.each(['500', 'cut', 'wrong-type', 'html', '429'] as const)('come without one that fails: %s', async (profile) => {
    upstreams.coingecko.profile = profile
    const asking = ask()
    let done = false
    void asking.finally(() => {
      done = true
    })
    const passing = () => {
      if (!done) time.pass(50)
      return done
    }
    await until('the retry', passing, { everyMs: 5 })
    expect(await asking).toMatchObject({
      value: { value: { sources: ['coinbase', 'binance'], globalMarketCapUsd: null } },
    })
  })

  it('are the earlier ones, marked, for five minutes while no source answers', async () => {
    await ask()
    for (const upstream of Object.values(upstreams)) upstream.profile = '500'
    time.pass(300_000)
    expect(await ask()).toMatchObject({ value: { source: { stale: true } } })
    time.pass(1)
    expect(await ask()).toMatchObject({ ok: false, fault: { code: 'provider/answer' } })
    expect(prices.latest()).toBeNull()
  })

  it('can be asked for while one of them is well', async () => {
    upstreams.binance.profile = '401'
    await prices.start()
    expect(prices.readiness()).toEqual({ available: true, engine: 'coingecko, coinbase' })
    expect(prices.facts.map(({ name, usable }) => [name, usable])).toEqual([
      ['coingecko', true],
      ['coinbase', true],
      ['binance', false],
    ])
    expect(await prices.checkAll()).toMatchObject([{ ok: true }, { ok: true }, { name: 'binance', ok: false }])
  })

  it('cannot be asked for if all sources are ill or none is chosen', async () => {
    for (const upstream of Object.values(upstreams)) upstream.profile = '401'
    await prices.start()
    expect(prices.readiness()).toMatchObject({ available: false, requires: [] })
    const none = open([])
    await none.start()
    expect(none.readiness()).toMatchObject({ available: false, requires: ['providers.prices'] })
    expect([none.latest(), (await none.majors(AbortSignal.timeout(9_000))).ok]).toEqual([null, false])
  })

  describe('in documents', () => {
    const told = () =>
      until('all prices', () => (prices.latest()?.value.sources.length === 3 ? prices.latest() : null), { everyMs: 5 })

    it('are cached for the second reader, and asked for once a minute', async () => {
      expect(prices.latest()).toBeNull()
      expect(await told()).toMatchObject({ source: { stale: false } })
      expect(asked()).toBe(8)
      time.pass(59_999)
      for (let reader = 0; reader < 100; reader++) expect(prices.latest()?.source.stale).toBe(false)
      expect(asked()).toBe(8)
      time.pass(1)
      prices.latest()
      await until('the next question', () => asked() === 15, { everyMs: 5 })
    })

    it('are not asked for without readers', async () => {
      await prices.start()
      await told()
      const before = asked()
      time.pass(200_000)
      expect(asked()).toBe(before)
    })

    it('are live for 90 seconds, then old, and after five minutes gone', async () => {
      await told()
      for (const upstream of Object.values(upstreams)) upstream.profile = '500'
      time.pass(90_000)
      expect(prices.latest()?.source.stale).toBe(false)
      time.pass(1)
      expect(prices.latest()?.source.stale).toBe(true)
      time.pass(210_000)
      expect(prices.latest()).toBeNull()
    })

    it('are not asked for after the end', async () => {
      prices.stop()
      prices.latest()
      expect((await ask()).ok).toBe(false)
      expect(asked()).toBe(0)
    })
  })
})
