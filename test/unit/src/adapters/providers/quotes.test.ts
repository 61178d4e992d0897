import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { binance } from '../../../../../src/adapters/providers/binance.ts'
import { coinbase } from '../../../../../src/adapters/providers/coinbase.ts'
import { coingecko } from '../../../../../src/adapters/providers/coingecko.ts'
import type { QuoteDependencies, QuoteProvider } from '../../../../../src/adapters/providers/major-quotes.ts'
import { BINANCE_QUOTES, binanceUpstream } from '../../../../support/upstreams/binance.ts'
import { coinbaseQuotes, coinbaseUpstream } from '../../../../support/upstreams/coinbase.ts'
import { COINGECKO_QUOTES, coingeckoUpstream, QUOTED_MS } from '../../../../support/upstreams/coingecko.ts'
import { describeProvider } from '../../../../support/upstreams/provider-suite.ts'
import { Upstream, type UpstreamHandler } from '../../../../support/upstreams/upstream.ts'

const clock = { now: () => QUOTED_MS }

function suite(
  name: string,
  adapter: (parts: QuoteDependencies) => QuoteProvider,
  rest: { readonly handler: UpstreamHandler; readonly answer: unknown; readonly hitsMax: number },
): void {
  const parts = (url: string): QuoteDependencies => ({ url, key: null, clock })
  describeProvider({ name, ...rest, open: (url) => ({ ask: (signal) => adapter(parts(url)).ask(null, signal) }) })
  describeProvider({
    name: `${name}, being checked`,
    handler: rest.handler,
    answer: expect.anything(),
    open: (url) => ({ ask: (signal) => adapter(parts(url)).check(signal) }),
  })
}

suite('coingecko', coingecko, { handler: coingeckoUpstream, answer: COINGECKO_QUOTES, hitsMax: 2 })
suite('coinbase', coinbase, { handler: coinbaseUpstream, answer: coinbaseQuotes(QUOTED_MS), hitsMax: 5 })
suite('binance', binance, { handler: binanceUpstream, answer: BINANCE_QUOTES, hitsMax: 1 })

describe('adapters of prices', () => {
  let upstream: Upstream
  let handler: UpstreamHandler
  let signal: AbortSignal
  beforeEach(async () => {
    signal = AbortSignal.timeout(20_000)
    upstream = await Upstream.open((request) => handler(request))
  })
  afterEach(() => upstream.close())
  const parts = (key: string | null = null): QuoteDependencies => ({ url: upstream.url, key, clock })

  it('of coingecko give prices also where the market cap is missing, and do not wait for it', async () => {
    handler = coingeckoUpstream
    for (const profile of ['500', 'wrong-type', 'hang'] as const) {
      upstream.profile = ({ path }) => (path === '/global' ? profile : 'ok')
      expect(await coingecko(parts()).ask(null, signal)).toEqual({
        ok: true,
        value: { ...COINGECKO_QUOTES, globalMarketCapUsd: null },
      })
    }
  })

  it('of coingecko ask for the market cap once in ten minutes', async () => {
    handler = coingeckoUpstream
    const provider = coingecko(parts())
    await provider.ask(null, signal)
    expect(await provider.ask(null, signal)).toEqual({ ok: true, value: COINGECKO_QUOTES })
    expect([upstream.count('/simple/price'), upstream.count('/global')]).toEqual([2, 1])
  })

  it('of coingecko show their key in a header, and nowhere else', async () => {
    handler = coingeckoUpstream
    await coingecko(parts('CG-key')).ask(null, signal)
    expect(upstream.requests.map(({ headers }) => headers['x-cg-demo-api-key'])).toEqual(['CG-key', 'CG-key'])
    expect(upstream.requests.map(({ query }) => String(query)).join()).not.toContain('CG-key')
  })

  it.each([
    ['0', 0],
    ['below 0', -3],
    ['beyond all reason', 1e12],
    ['infinite', '1e999'],
    ['a text', '67187.33'],
  ])('of coingecko do not take a price that is %s', async (_, usd) => {
    handler = () => ({
      body: `{"bitcoin":{"usd":${typeof usd === 'string' && usd !== '1e999' ? `"${usd}"` : usd},"last_updated_at":1711356300}}`,
    })
    expect(await coingecko(parts()).ask(null, signal)).toMatchObject({ fault: { code: 'provider/answer' } })
  })

  it.each([
    ['more than an hour ago', -3_601],
    ['yet to come', 301],
  ])('of coingecko do not take a price of a moment that is %s', async (reason, seconds) => {
    const last_updated_at = QUOTED_MS / 1_000 + seconds
    handler = () => ({ body: { bitcoin: { usd: 1, usd_24h_change: 1, last_updated_at } } })
    expect(await coingecko(parts()).ask(null, signal)).toMatchObject({
      fault: { code: 'provider/answer', detail: { reason: expect.stringContaining(reason) } },
    })
  })

  it.each(['0', '-1.5', 'NaN', 'Infinity', '1e3', '0x10', '', ' 5', '5,5'])(
    'of coinbase and binance do not take the price "%s"',
    async (price) => {
      handler = () => ({ body: { data: { amount: price, base: 'BTC', currency: 'USD' } } })
      expect(await coinbase(parts()).check(signal)).toMatchObject({ fault: { code: 'provider/answer' } })
      handler = () => ({
        body: [{ symbol: 'BTCUSDT', lastPrice: price, priceChangePercent: '1', closeTime: QUOTED_MS }],
      })
      expect(await binance(parts()).check(signal)).toMatchObject({ fault: { code: 'provider/answer' } })
    },
  )

  it('of coinbase do not take the price of another pair', async () => {
    handler = () => ({ body: { data: { amount: '1.00', base: 'BTC', currency: 'EUR' } } })
    expect(await coinbase(parts()).ask(null, signal)).toMatchObject({ fault: { code: 'provider/answer' } })
  })

  it.each([
    ['coingecko', coingecko, {}],
    ['coinbase', coinbase, null],
    ['binance', binance, []],
  ])('of %s do not call no price at all an answer', async (_, adapter, body) => {
    handler = () => (body === null ? { status: 404, body: {} } : { body })
    expect(await adapter(parts()).ask(null, signal)).toMatchObject({ fault: { code: 'provider/answer' } })
    expect(await adapter(parts()).check(signal)).toMatchObject({ fault: { code: 'provider/answer' } })
  })
})
