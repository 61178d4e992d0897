import type { UpstreamHandler } from './upstream.ts'

const TICKERS: Readonly<Record<string, { readonly lastPrice: string; readonly priceChangePercent: string }>> = {
  BTCUSDT: { lastPrice: '67190.01000000', priceChangePercent: '3.641' },
  ETHUSDT: { lastPrice: '3484.50000000', priceChangePercent: '-1.240' },
  SOLUSDT: { lastPrice: '182.41000000', priceChangePercent: '0.010' },
  BNBUSDT: { lastPrice: '571.10000000', priceChangePercent: '0.700' },
  LTCUSDT: { lastPrice: '88.41000000', priceChangePercent: '2.480' },
}
const CLOSE_MS = 1_711_356_305_000

/** The result that the adapter makes of `TICKERS`. */
export const BINANCE_QUOTES = {
  prices: Object.fromEntries(
    Object.entries(TICKERS).map(([symbol, { lastPrice, priceChangePercent }]) => [
      symbol.slice(0, -4),
      {
        usd: Number(lastPrice),
        change24hPct: Number(priceChangePercent),
        asOf: new Date(CLOSE_MS).toISOString(),
      },
    ]),
  ),
  globalMarketCapUsd: null,
}

/**
 * Binance's 24-hour ticker of several symbols:
 * https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints#24hr-ticker-price-change-statistics
 */
export const binanceUpstream: UpstreamHandler = ({ path, query }) => {
  if (path !== '/api/v3/ticker/24hr') return { status: 404, body: { code: -1, msg: 'not found' } }
  const symbols = JSON.parse(query.get('symbols') ?? '[]') as readonly string[]
  if (symbols.some((symbol) => TICKERS[symbol] === undefined))
    return { status: 400, body: { code: -1121, msg: 'Invalid symbol.' } }
  const body = symbols.map((symbol) => ({
    symbol,
    priceChange: '94.99999800',
    weightedAvgPrice: '0.29628482',
    openTime: CLOSE_MS - 86_400_000,
    closeTime: CLOSE_MS,
    count: 76,
    ...TICKERS[symbol],
  }))
  return { body }
}
