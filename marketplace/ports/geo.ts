import type { Readiness } from './readiness.ts'

/** What is known of where an address is used; null is not known. */
export interface GeoFacts {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null
  readonly region: string | null
  readonly city: string | null
  /** Degrees. */
  readonly lat: number | null
  readonly lon: number | null
  readonly accuracyKm: number | null
  /** IANA name. */
  readonly timezone: string | null
  readonly asn: number | null
  readonly isp: string | null
  /** Whether the country is in the European Union. */
  readonly eu: boolean | null
}

/** Facts of an address of which nothing is known. */
export const NO_GEO_FACTS: GeoFacts = {
  country: null,
  region: null,
  city: null,
  lat: null,
  lon: null,
  accuracyKm: null,
  timezone: null,
  asn: null,
  isp: null,
  eu: null,
}

/** A database that answers come from. */
export interface GeoDatabase {
  /** Type as the database calls itself. */
  readonly type: string
  /** ISO 8601. */
  readonly buildDate: string
}

/** Where addresses are used, by databases on this machine, which may be exchanged while it runs. */
export interface GeoDatabases {
  readonly readiness: () => Readiness
  readonly databases: readonly GeoDatabase[]
  /** Words that the databases' licences want. */
  readonly attribution: string
  /** What the databases hold of a public address, IPv4 or IPv6 as text; null where none of them knows it. */
  readonly lookUp: (ip: string) => GeoFacts | null
}
