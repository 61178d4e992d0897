import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** Asks the operator's providers. With `isFree` a query leaves room for paid queries. Faults: `provider/*`. */
export interface Asked<Query, Value> {
  readonly readiness: () => Readiness
  readonly ask: (query: Query, signal: AbortSignal, isFree?: boolean) => Promise<Result<Sourced<Value>>>
}

/** One result of a search. */
export interface SearchHit {
  readonly title: string
  readonly url: string
  readonly snippet: string
  /** ISO 8601 date or time; null if the provider does not tell. */
  readonly date: string | null
}

/** As the registry reports it (RFC 9083); a field is null if it is not reported. */
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

/** Registrations of domains. The query is the registrable domain in ASCII. */
export interface Domains extends Asked<string, DomainFacts> {
  /** Whether a registry with RDAP is known for the domain; null while the list of registries is not loaded. */
  readonly covers: (domain: string) => boolean | null
}

/** A place to look up by name, or coordinates in degrees. */
export type PlaceQuery = { readonly name: string } | { readonly lat: number; readonly lon: number }

/** A field is null if it is not reported. */
export interface CurrentWeather {
  readonly tempC: number
  readonly feelsLikeC: number | null
  readonly humidityPct: number | null
  readonly windKph: number | null
  readonly windDeg: number | null
  readonly precipMm: number | null
  /** WMO code 4677 if the provider has it, else the provider's own code. */
  readonly code: string | null
  readonly summary: string
  readonly observedAt: string
}

/** A field is null if it is not reported. */
export interface DailyWeather {
  readonly date: string
  readonly minC: number
  readonly maxC: number
  readonly precipMm: number | null
  readonly precipProbPct: number | null
  readonly windMaxKph: number | null
  readonly code: string | null
  readonly summary: string
  /** False if the figures cover only the part of the day that is left. */
  readonly wholeDay: boolean
}

/** A place; a field is null if it is unknown. */
export interface Place {
  readonly name: string | null
  readonly country: string | null
  readonly lat: number
  readonly lon: number
  /** IANA name. */
  readonly timezone: string | null
}

/** Present weather of a place, and that of three days. */
export interface WeatherReport {
  readonly place: Place
  readonly current: CurrentWeather
  readonly daily: readonly DailyWeather[]
  /** Timezone in which the days are counted. */
  readonly daysIn: string
}

/** Weather by place. */
export interface Weather extends Asked<PlaceQuery, WeatherReport> {
  /** Whether places can be looked up by name. Coordinates always work. */
  readonly names: () => Readiness
}

/** Reference rates of one day against the euro, as decimal text. */
export interface ReferenceRates {
  readonly base: 'EUR'
  /** Units of each currency (ISO 4217) for one euro. The euro is not listed. */
  readonly rates: Readonly<Record<string, string>>
  /** Day of the rates (YYYY-MM-DD). */
  readonly rateDate: string
}

/** All reference rates of the newest day. */
export interface CurrencyRates extends Asked<null, ReferenceRates> {
  /** The last rates, unless they are too old. Makes no request. */
  readonly known: () => ReferenceRates | null
}
