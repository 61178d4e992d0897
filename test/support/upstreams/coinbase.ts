import type { UpstreamHandler } from './upstream.ts'

const SPOT: Readonly<Record<string, string>> = {
  BTC: '67201.455',
  ETH: '3483.9',
  SOL: '182.45',
  LTC: '88.42',
}

/** The result that the adapter makes of `SPOT` at a moment. This Coinbase does not trade BNB. */
export function coinbaseQuotes(atMs: number) {
  const asOf = new Date(atMs).toISOString()
  const prices = Object.entries(SPOT).map(([major, usd]) => [major, { usd: Number(usd), change24hPct: null, asOf }])
  return { prices: Object.fromEntries(prices), globalMarketCapUsd: null }
}

/**
 * Coinbase's spot prices: https://docs.cdp.coinbase.com/coinbase-business/track-apis/prices; errors as in
 * https://docs.cdp.coinbase.com/coinbase-business/api-architecture/error-messages.
 */
export const coinbaseUpstream: UpstreamHandler = ({ path }) => {
  const [, base = ''] = /^\/v2\/prices\/([A-Z]+)-USD\/spot$/.exec(path) ?? []
  const amount = SPOT[base]
  return amount === undefined
    ? { status: 404, body: { errors: [{ id: 'not_found', message: 'Invalid base currency' }] } }
    : { body: { data: { amount, base, currency: 'USD' } } }
}
