import type { Clock } from '../../../consensus/chain/ports.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ReferenceRates } from '../../../marketplace/ports/providers.ts'
import { ecbRates } from './ecb-xml.ts'
import type { Provider } from './provider.ts'
import { providerFetch } from './provider-fetch.ts'

const NAME = 'ecb'
const OWN_URL = 'https://www.ecb.europa.eu'
const PATH = '/stats/eurofxref/eurofxref-daily.xml'
const BYTES_MAX = 65_536

/** What an adapter for exchange rates needs. */
export interface RateDependencies {
  /** Base address; null for the provider's own. */
  readonly url: string | null
  readonly clock: Clock
}

/** All euro reference rates of the newest day. */
export type RateProvider = Provider<null, ReferenceRates>

/** The European Central Bank's daily file. */
export function ecb({ url, clock }: RateDependencies): RateProvider {
  const ask = async (signal: AbortSignal): Promise<Result<ReferenceRates>> => {
    const request = { bytesMax: BYTES_MAX, headers: { accept: 'application/xml, text/xml' } }
    const said = await providerFetch(NAME, `${url ?? OWN_URL}${PATH}`, request, signal)
    if (!said.ok) return said
    const rates = ecbRates(NAME, said.value.text, clock.now())
    return rates.ok ? ok(rates.value) : rates
  }
  return {
    name: NAME,
    url: 'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/',
    attribution: 'European Central Bank: euro foreign exchange reference rates',
    ask: (_, signal) => ask(signal),
    check: ask,
  }
}
