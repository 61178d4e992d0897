import type { Result } from '../../../consensus/primitives/result.ts'
import { MAJORS, type Major, type MajorPrice } from '../../../marketplace/ports/crypto-prices.ts'
import { type JsonAt, readJson } from './json-at.ts'
import {
  changeText,
  type MajorQuotes,
  momentOf,
  type QuoteDependencies,
  type QuoteProvider,
  usdText,
} from './major-quotes.ts'
import { providerJson } from './provider-fetch.ts'

const NAME = 'binance'
const OWN_URL = 'https://api.binance.com'
const BYTES_MAX = 65_536

/** Binance trades against USDT, which counts as a dollar here; the attribution says so. */
export function binance({ url, clock }: QuoteDependencies): QuoteProvider {
  const base = url ?? OWN_URL
  const tickers = async (majors: readonly Major[], signal: AbortSignal): Promise<Result<MajorQuotes>> => {
    const symbols = encodeURIComponent(JSON.stringify(majors.map((major) => `${major}USDT`)))
    const address = `${base}/api/v3/ticker/24hr?symbols=${symbols}`
    const said = await providerJson(NAME, address, { bytesMax: BYTES_MAX }, signal)
    return said.ok ? readJson(NAME, said.value, (json) => quotesIn(json, majors)) : said
  }
  const quotesIn = (json: JsonAt, majors: readonly Major[]): MajorQuotes => {
    const rows = json.list().map((row) => [row.at('symbol').text(), row] as const)
    const prices = majors.flatMap((major) => {
      const row = rows.find(([symbol]) => symbol === `${major}USDT`)?.[1]
      return row === undefined ? [] : [[major, priceIn(row)] as const]
    })
    return prices.length > 0
      ? { prices: Object.fromEntries(prices), globalMarketCapUsd: null }
      : json.wrong('has no price')
  }
  const priceIn = (row: JsonAt): MajorPrice => ({
    usd: usdText(row.at('lastPrice')),
    change24hPct: changeText(row.at('priceChangePercent')),
    asOf: momentOf(row.at('closeTime'), 1, clock),
  })

  return {
    name: NAME,
    url: 'https://www.binance.com',
    attribution: 'Binance: prices in USDT, taken as US dollars',
    ask: (_, signal) => tickers(MAJORS, signal),
    check: (signal) => tickers(['BTC'], signal),
  }
}
