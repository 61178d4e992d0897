import type { UpstreamHandler } from './upstream.ts'

const ANSWER = {
  bitcoin: { usd: 67187.3358936566, usd_24h_change: 3.637278946773539, last_updated_at: 1_711_356_300 },
  ethereum: { usd: 3484.12, usd_24h_change: -1.25, last_updated_at: 1_711_356_290 },
  solana: { usd: 182.4, usd_24h_change: 0, last_updated_at: 1_711_356_280 },
  binancecoin: { usd: 571.01, usd_24h_change: null, last_updated_at: 1_711_356_300 },
  litecoin: { usd: 88.4, usd_24h_change: 2.5, last_updated_at: 1_711_356_300 },
}

/** A moment shortly after the prices of this folder's upstreams, milliseconds since 1970. */
export const QUOTED_MS = 1_711_356_310_000

/** The result that the adapter makes of `ANSWER` and of the market cap. */
export const COINGECKO_QUOTES = {
  prices: {
    BTC: { usd: 67187.3358936566, change24hPct: 3.637278946773539, asOf: '2024-03-25T08:45:00.000Z' },
    ETH: { usd: 3484.12, change24hPct: -1.25, asOf: '2024-03-25T08:44:50.000Z' },
    SOL: { usd: 182.4, change24hPct: 0, asOf: '2024-03-25T08:44:40.000Z' },
    BNB: { usd: 571.01, change24hPct: null, asOf: '2024-03-25T08:45:00.000Z' },
    LTC: { usd: 88.4, change24hPct: 2.5, asOf: '2024-03-25T08:45:00.000Z' },
  },
  globalMarketCapUsd: 2_721_226_850_772.63,
}

/**
 * CoinGecko's `simple/price` and `global`: https://docs.coingecko.com/reference/simple-price and
 * https://docs.coingecko.com/reference/crypto-global. The answers are like the examples there, with only the requested fields.
 */
export const coingeckoUpstream: UpstreamHandler = ({ path, query }) => {
  if (path === '/global') {
    const capUsd = COINGECKO_QUOTES.globalMarketCapUsd
    return {
      body: { data: { active_cryptocurrencies: 13_690, total_market_cap: { btc: 39_003_738.08, usd: capUsd } } },
    }
  }
  if (path !== '/simple/price') return { status: 404, body: { error: 'Not Found' } }
  const ids = (query.get('ids') ?? '').split(',')
  return { body: Object.fromEntries(Object.entries(ANSWER).filter(([id]) => ids.includes(id))) }
}
