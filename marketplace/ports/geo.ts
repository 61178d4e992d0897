import type { Readiness } from './readiness.ts'

/** A field is null if it is unknown. */
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

/** Facts of an unknown address. */
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

/** A database behind the answers. */
export interface GeoDatabase {
  readonly type: string
  /** ISO 8601. */
  readonly buildDate: string
}

/** Locations of IP addresses, from databases on this machine. */
export interface GeoDatabases {
  readonly readiness: () => Readiness
  readonly databases: readonly GeoDatabase[]
  /** Text that the licences of the databases require. */
  readonly attribution: string
  /** Facts of a public address, IPv4 or IPv6 as text; null if no database has facts on it. */
  readonly lookUp: (ip: string) => GeoFacts | null
}
