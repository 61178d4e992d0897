import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { MAJORS, type Major, type MajorPrice } from '../../../marketplace/ports/crypto-prices.ts'
import { readJson } from './json-at.ts'
import { type QuoteDependencies, type QuoteProvider, usdText } from './major-quotes.ts'
import { providerFetch } from './provider-fetch.ts'

const NAME = 'coinbase'
const OWN_URL = 'https://api.coinbase.com'
const BYTES_MAX = 16_384
/** Coinbase's statuses for an asset that it does not trade. */
const NOT_THERE = [400, 404]

/** Coinbase gives no change, and no time of the price: the time is now. */
export function coinbase({ url, clock }: QuoteDependencies): QuoteProvider {
  const base = url ?? OWN_URL
  const spot = async (major: Major, signal: AbortSignal): Promise<Result<MajorPrice | null>> => {
    const request = { bytesMax: BYTES_MAX, headers: { accept: 'application/json' }, alsoAnswers: NOT_THERE }
    const said = await providerFetch(NAME, `${base}/v2/prices/${major}-USD/spot`, request, signal)
    if (!said.ok) return said
    if (said.value.status !== 200) return ok(null)
    const json = parsed(said.value.text)
    if (!json.ok) return json
    return readJson(NAME, json.value, (it) => {
      const data = it.at('data')
      if (data.at('base').text() !== major || data.at('currency').text() !== 'USD')
        return data.wrong('is of another pair')
      return { usd: usdText(data.at('amount')), change24hPct: null, asOf: new Date(clock.now()).toISOString() }
    })
  }

  return {
    name: NAME,
    url: 'https://www.coinbase.com',
    ask: async (_, signal) => {
      const said = await Promise.all(MAJORS.map(async (major) => [major, await spot(major, signal)] as const))
      const prices: Partial<Record<Major, MajorPrice>> = {}
      for (const [major, price] of said) {
        if (!price.ok) return price
        if (price.value !== null) prices[major] = price.value
      }
      return Object.keys(prices).length > 0 ? ok({ prices, globalMarketCapUsd: null }) : NOTHING
    },
    check: async (signal) => {
      const price = await spot('BTC', signal)
      return price.ok && price.value === null ? NOTHING : price
    },
  }
}

const NOTHING = fail(fault('provider/answer', { provider: NAME, reason: 'it has no price' }))

function parsed(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text) as unknown)
  } catch {
    return fail(fault('provider/answer', { provider: NAME, reason: 'it is not JSON' }))
  }
}
