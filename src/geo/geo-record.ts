import { type Fields, fieldsOf } from '../../consensus/primitives/fields.ts'
import { type GeoFacts, NO_GEO_FACTS } from '../../marketplace/ports/geo.ts'

const TEXT_CHARS_MAX = 100
const ASN_MAX = 0xffff_ffff
/** Half of the equator, the longest possible distance. */
const ACCURACY_KM_MAX = 20_040

/** ISO 3166-1 alpha-2. Country databases do not state membership. */
const EUROPEAN_UNION = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
)

/**
 * Facts in a database record of any known layout: nested as in GeoIP2 and DB-IP (`country.iso_code`,
 * https://dev.maxmind.com/geoip/docs/databases/city-and-country), or flat as in ip-location-db (`country_code`,
 * `autonomous_system_number`, https://github.com/sapics/ip-location-db) and IPinfo (`asn` as "AS15169"). Values of a
 * wrong type or range are unknown.
 */
export function geoFactsOf(record: unknown): GeoFacts {
  const fields = fieldsOf(record)
  const location = fieldsOf(fields.location)
  const traits = fieldsOf(fields.traits)
  const country = countryOf(fields)
  const told = fieldsOf(fields.country).is_in_european_union
  return {
    country,
    region: nameOf(listOf(fields.subdivisions)[0]) ?? textOf(fields.state1) ?? textOf(fields.region),
    city: nameOf(fields.city) ?? textOf(fields.city),
    lat: within(90, location.latitude ?? fields.latitude),
    lon: within(180, location.longitude ?? fields.longitude),
    accuracyKm: above0(within(ACCURACY_KM_MAX, location.accuracy_radius)),
    timezone: textOf(location.time_zone ?? fields.timezone),
    asn: numberOfSystem(fields.autonomous_system_number ?? traits.autonomous_system_number ?? fields.asn),
    isp:
      textOf(fields.isp ?? traits.isp) ??
      textOf(fields.autonomous_system_organization ?? traits.autonomous_system_organization) ??
      textOf(fields.as_name),
    eu: typeof told === 'boolean' ? told : country === null ? null : EUROPEAN_UNION.has(country),
  }
}

/** For each fact, the first database that knows it counts. */
export function mergedFacts(found: readonly GeoFacts[]): GeoFacts {
  const merged: Record<string, unknown> = { ...NO_GEO_FACTS }
  for (const facts of found) {
    for (const [name, value] of Object.entries(facts)) merged[name] = merged[name] ?? value
  }
  return merged as unknown as GeoFacts
}

function countryOf(fields: Fields): string | null {
  const told = fieldsOf(fields.country).iso_code ?? fields.country_code ?? fields.country
  // Some databases use ZZ and XX for unknown.
  return typeof told === 'string' && /^(?!zz|xx)[a-z]{2}$/i.test(told) ? told.toUpperCase() : null
}

/** Null if the database has no English names. */
function nameOf(place: unknown): string | null {
  return textOf(fieldsOf(fieldsOf(place).names).en)
}

function numberOfSystem(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(/^(?:AS)?(\d{1,10})$/i.exec(value)?.[1]) : value
  return Number.isSafeInteger(number) && (number as number) > 0 && (number as number) <= ASN_MAX
    ? (number as number)
    : null
}

function within(most: number, value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Math.abs(number) <= most ? number : null
}

function above0(value: number | null): number | null {
  return value !== null && value > 0 ? value : null
}

function textOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim().slice(0, TEXT_CHARS_MAX).toWellFormed() : ''
  return text === '' ? null : text
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
