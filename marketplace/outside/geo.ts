import type { Readiness } from './readiness.ts'

/** What is known of where an address is used; null is not known. */
export interface GeoFacts {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null
  readonly region: string | null
  readonly city: string | null
  readonly lat: number | null
  readonly lon: number | null
  readonly accuracyKm: number | null
  /** IANA name. */
  readonly timezone: string | null
  readonly asn: number | null
  readonly isp: string | null
  readonly eu: boolean | null
}

/** A database that answers come from. */
export interface GeoDatabase {
  /** Type as the database calls itself. */
  readonly type: string
  /** ISO 8601. */
  readonly buildDate: string
}

/** Where addresses are used, by databases on this machine. */
export interface GeoDatabases {
  readonly readiness: () => Readiness
  readonly databases: readonly GeoDatabase[]
  /** Words that the databases' licences want. */
  readonly attribution: string
  readonly lookUp: (ip: string) => GeoFacts
}
