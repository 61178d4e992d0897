import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { MAJORS, type Major, type MajorPrice } from '../../../marketplace/ports/crypto-prices.ts'
import { type JsonAt, readJson } from './json-at.ts'
import {
  changeNumber,
  type MajorQuotes,
  momentOf,
  type QuoteDependencies,
  type QuoteProvider,
  usdNumber,
} from './major-quotes.ts'
import { providerJson } from './provider-fetch.ts'

const NAME = 'coingecko'
const OWN_URL = 'https://api.coingecko.com/api/v3'
const IDS: Readonly<Record<Major, string>> = {
  BTC: 'bitcoin',
  ETH: 'ethereum',
  SOL: 'solana',
  BNB: 'binancecoin',
  LTC: 'litecoin',
}
const BYTES_MAX = 131_072
/** CoinGecko recomputes the market cap every ten minutes. */
const MARKET_CAP_MS = 600_000
/** The result has no market cap if it takes longer. */
const MARKET_CAP_WAIT_MS = 1_500
const MARKET_CAP = { min: 1e9, max: 1e16 }

/** The key may be of a demo or a paid plan. */
export function coingecko({ url, key, clock }: QuoteDependencies): QuoteProvider {
  const base = url ?? OWN_URL
  // https://docs.coingecko.com/reference/authentication: paid plans have their own host and header.
  const header = new URL(base).hostname.startsWith('pro-') ? 'x-cg-pro-api-key' : 'x-cg-demo-api-key'
  const request = { bytesMax: BYTES_MAX, headers: key === null ? {} : { [header]: key } }
  let marketCap: { readonly usd: number; readonly atMs: number } | null = null

  const quotes = async (majors: readonly Major[], signal: AbortSignal): Promise<Result<MajorQuotes['prices']>> => {
    const ids = majors.map((major) => IDS[major]).join(',')
    const wanted = `ids=${ids}&vs_currencies=usd&include_24hr_change=true&include_last_updated_at=true`
    const said = await providerJson(NAME, `${base}/simple/price?${wanted}`, request, signal)
    return said.ok ? readJson(NAME, said.value, (json) => pricesIn(json, majors)) : said
  }
  const pricesIn = (json: JsonAt, majors: readonly Major[]): MajorQuotes['prices'] => {
    const prices = majors.map((major) => [major, json.at(IDS[major]).maybe(priceIn)] as const)
    const known = prices.filter(([, price]) => price !== null)
    return known.length > 0 ? Object.fromEntries(known) : json.wrong('has no price')
  }
  const priceIn = (json: JsonAt): MajorPrice => ({
    usd: usdNumber(json.at('usd')),
    change24hPct: changeNumber(json.at('usd_24h_change')),
    asOf: momentOf(json.at('last_updated_at'), 1_000, clock),
  })
  const globalMarketCap = async (signal: AbortSignal): Promise<number | null> => {
    const ageMs = marketCap === null ? MARKET_CAP_MS : clock.now() - marketCap.atMs
    if (marketCap !== null && ageMs >= 0 && ageMs < MARKET_CAP_MS) return marketCap.usd
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MARKET_CAP_WAIT_MS)])
    const said = await providerJson(NAME, `${base}/global`, request, limit).catch(() => null)
    const read = said?.ok ? readJson(NAME, said.value, marketCapIn) : null
    marketCap = read?.ok ? { usd: read.value, atMs: clock.now() } : null
    return marketCap?.usd ?? null
  }

  return {
    name: NAME,
    url: 'https://www.coingecko.com',
    attribution: 'Data provided by CoinGecko',
    ask: async (_, signal) => {
      const [prices, globalMarketCapUsd] = await Promise.all([quotes(MAJORS, signal), globalMarketCap(signal)])
      return prices.ok ? ok({ prices: prices.value, globalMarketCapUsd }) : prices
    },
    check: (signal) => quotes(['BTC'], signal),
  }
}

function marketCapIn(json: JsonAt): number {
  return json.at('data').at('total_market_cap').at('usd').number(MARKET_CAP.min, MARKET_CAP.max)
}
