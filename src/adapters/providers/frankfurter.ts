import type { Result } from '../../../consensus/primitives/result.ts'
import type { ReferenceRates } from '../../../marketplace/ports/providers.ts'
import { referenceRates } from './day-rates.ts'
import type { RateDependencies, RateProvider } from './ecb.ts'
import { type JsonAt, readJson } from './json-at.ts'
import { providerJson } from './provider-fetch.ts'

const NAME = 'frankfurter'
const OWN_URL = 'https://api.frankfurter.dev'
const BYTES_MAX = 65_536
const RATE_MAX = 1e12

/** Frankfurter copies the European Central Bank's rates; it can be self-hosted. */
export function frankfurter({ url, clock }: RateDependencies): RateProvider {
  const ask = async (signal: AbortSignal): Promise<Result<ReferenceRates>> => {
    const said = await providerJson(NAME, `${url ?? OWN_URL}/v1/latest?base=EUR`, { bytesMax: BYTES_MAX }, signal)
    if (!said.ok) return said
    const read = readJson(NAME, said.value, dayIn)
    return read.ok ? referenceRates(NAME, read.value.day, read.value.rates, clock.now()) : read
  }
  return {
    name: NAME,
    url: 'https://frankfurter.dev',
    attribution: 'European Central Bank: euro foreign exchange reference rates, by Frankfurter',
    ask: (_, signal) => ask(signal),
    check: ask,
  }
}

function dayIn(json: JsonAt): { readonly day: string; readonly rates: readonly (readonly [string, string])[] } {
  const [base, amount] = [json.at('base').text(), json.at('amount').number(0, RATE_MAX)]
  if (base !== 'EUR' || amount !== 1) return json.wrong('is not about one euro')
  // A JSON number with so few digits prints exactly as the central bank wrote it.
  const rates = json
    .at('rates')
    .entries()
    .map(([currency, rate]) => [currency, String(rate.number(0, RATE_MAX))] as const)
  return { day: json.at('date').text(), rates }
}
