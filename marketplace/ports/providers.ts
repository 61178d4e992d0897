import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** Asks the providers that the operator chose; a question that `isFree` leaves room for paid ones. Faults: `provider/*`. */
export interface Asked<Query, Value> {
  readonly readiness: () => Readiness
  readonly ask: (query: Query, signal: AbortSignal, isFree?: boolean) => Promise<Result<Sourced<Value>>>
}

/** A page that a search found. */
export interface SearchHit {
  readonly title: string
  readonly url: string
  readonly snippet: string
  /** ISO 8601 date or time, where the provider tells. */
  readonly date: string | null
}

/** Registration of a domain, as its registry tells (RFC 9083); null is not told. */
export interface DomainFacts {
  readonly registered: boolean
  readonly registrar: {
    readonly name: string | null
    readonly ianaId: string | null
    readonly url: string | null
  } | null
  readonly createdAt: string | null
  readonly expiresAt: string | null
  readonly updatedAt: string | null
  readonly nameservers: readonly string[]
  readonly status: readonly string[]
  readonly dnssec: boolean | null
  readonly rdapServer: string
}

/** Registrations of domains, asked by registrable domain in ASCII. */
export interface Domains extends Asked<string, DomainFacts> {
  /** Whether a registry with RDAP is known for the domain; null while the list of registries is not. */
  readonly covers: (domain: string) => boolean | null
}

/** A place on earth: by name, to be found, or by its coordinates in degrees. */
export type PlaceQuery = { readonly name: string } | { readonly lat: number; readonly lon: number }

/** Weather of one moment; null is not told. */
export interface CurrentWeather {
  readonly tempC: number
  readonly feelsLikeC: number | null
  readonly humidityPct: number | null
  readonly windKph: number | null
  readonly windDeg: number | null
  readonly precipMm: number | null
  /** WMO code 4677 where the provider has it, else its own word. */
  readonly code: string | null
  readonly summary: string
  readonly observedAt: string
}

/** Weather of one day; null is not told. */
export interface DailyWeather {
  readonly date: string
  readonly minC: number
  readonly maxC: number
  readonly precipMm: number | null
  readonly precipProbPct: number | null
  readonly windMaxKph: number | null
  readonly code: string | null
  readonly summary: string
  /** False where it is about what is left of the day only. */
  readonly wholeDay: boolean
}

/** A place, as far as it is known. */
export interface Place {
  readonly name: string | null
  readonly country: string | null
  readonly lat: number
  readonly lon: number
  /** IANA name. */
  readonly timezone: string | null
}

/** Weather of a place now and on three days. */
export interface WeatherReport {
  readonly place: Place
  readonly current: CurrentWeather
  readonly daily: readonly DailyWeather[]
  /** Timezone whose days those are. */
  readonly daysIn: string
}

/** The weather, by place. */
export interface Weather extends Asked<PlaceQuery, WeatherReport> {
  /** Whether places can be named; coordinates are understood anyhow. */
  readonly names: () => Readiness
}

/** Reference rates of one day against the euro, as decimal texts. */
export interface ReferenceRates {
  readonly base: 'EUR'
  /** Units of each currency (ISO 4217) for one euro; without the euro itself. */
  readonly rates: Readonly<Record<string, string>>
  /** Day of the rates (YYYY-MM-DD). */
  readonly rateDate: string
}

/** All reference rates of the newest day. */
export interface CurrencyRates extends Asked<null, ReferenceRates> {
  /** Those that are known already, if not too old to be given; nobody is asked. */
  readonly known: () => ReferenceRates | null
}
