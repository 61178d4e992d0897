import type { CryptoPrices } from './crypto-prices.ts'
import type { Documents } from './documents.ts'
import type { Engines } from './engines.ts'
import type { EvmReader } from './evm.ts'
import type { GeoDatabases } from './geo.ts'
import type { MailDomains } from './mail.ts'
import type { Models, Translation } from './models.ts'
import type { EndpointProbe } from './probes.ts'
import type { Asked, CurrencyRates, Domains, SearchHit, Weather } from './providers.ts'
import type { WebReader } from './web.ts'

/** Everything outside the chain that services use. */
export interface Outside {
  readonly engines: Engines
  readonly documents: Documents
  readonly web: WebReader
  readonly mail: MailDomains
  readonly endpoint: EndpointProbe
  readonly geo: GeoDatabases
  readonly prices: CryptoPrices
  readonly search: Asked<string, readonly SearchHit[]>
  readonly domains: Domains
  readonly weather: Weather
  readonly rates: CurrencyRates
  readonly evm: EvmReader
  readonly models: Models
  readonly translator: Asked<{ readonly to: string; readonly text: string }, Translation>
}
