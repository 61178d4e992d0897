import ipaddr from 'ipaddr.js'
import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { type GeoFacts, NO_GEO_FACTS } from '../../ports/geo.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { ENGINE_ENVELOPE, engineEnvelope } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-geo-ip' as ServiceId
const FORMAT = { requestFormat: '<IPv4 or IPv6 address>', example: '8.8.8.8' }
const REQUEST_CHARS_MAX = 64

const TEXT = orNull(Type.String({ minLength: 1, maxLength: 100 }))

const RESULT = Type.Object({
  ...ENGINE_ENVELOPE,
  ip: Type.String({ maxLength: 39 }),
  version: Type.Union([Type.Literal(4), Type.Literal(6)]),
  reserved: Type.Boolean(),
  range: Type.String(),
  country: orNull(Type.String({ pattern: '^[A-Z]{2}$' })),
  countryName: TEXT,
  region: TEXT,
  city: TEXT,
  lat: orNull(Type.Number({ minimum: -90, maximum: 90 })),
  lon: orNull(Type.Number({ minimum: -180, maximum: 180 })),
  accuracyKm: orNull(Type.Number({ exclusiveMinimum: 0 })),
  timezone: TEXT,
  asn: orNull(Type.Integer({ minimum: 1 })),
  isp: TEXT,
  eu: orNull(Type.Boolean()),
  databases: Type.Array(Type.Object({ type: Type.String(), buildDate: Type.String({ format: 'date-time' }) })),
  attribution: Type.String(),
  unknown: UNKNOWN,
})

interface Asked {
  readonly ip: string
  readonly version: 4 | 6
  /** The special range of the address; `unicast` if it is public. */
  readonly range: string
}

function parse(request: string): Result<Asked> {
  const text = request.trim()
  // Programs read other spellings (127.1, 0x7f000001, zone ids) differently.
  const isSpelledOut = ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text))
  if (!isSpelledOut || text.includes('%')) return unusable('not an IPv4 or IPv6 address', FORMAT)
  const address = ipaddr.process(text)
  const version = address.kind() === 'ipv4' ? 4 : 6
  return ok({ ip: address.toString(), version, range: address.range() })
}

function factsOf({ ip, range }: Asked, { outside }: ServiceContext): GeoFacts | null {
  return range === 'unicast' ? outside.geo.lookUp(ip) : NO_GEO_FACTS
}

function nameOf(country: string | null): string | null {
  if (country === null) return null
  return new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(country) ?? null
}

/** Location of an IP address, from databases on this machine. */
export const geoIp = defineService<Asked, typeof RESULT>({
  serviceId: ID,
  name: 'IP location',
  description:
    "What this node's databases hold of an IP address: country, region, city, coordinates, timezone, AS number and ISP. Fields that they lack are listed as unknown; reserved addresses are told as such; databases and their dates are named.",
  brief: 'Tells country, city, coordinates, time zone and network of an IP address.',
  words: 'where located geolocation geolocate isp provider asn',
  capability: 'utility',
  priceUsdMicros: 3_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: 'mmdb',
    ip: '203.0.114.7',
    version: 4,
    reserved: false,
    range: 'unicast',
    country: 'DE',
    countryName: 'Germany',
    region: 'Hesse',
    city: 'Frankfurt am Main',
    lat: 50.1155,
    lon: 8.6842,
    accuracyKm: 20,
    timezone: 'Europe/Berlin',
    asn: null,
    isp: null,
    eu: true,
    databases: [{ type: 'GeoLite2-City', buildDate: '2026-11-17T09:12:44.000Z' }],
    attribution: 'This product includes GeoLite2 data created by MaxMind, available from https://www.maxmind.com',
    unknown: ['asn', 'isp'],
  },
  timeoutMs: 2_000,
  resultBytesMax: 8_192,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (asked, context) =>
    context.outside.geo.readiness().available && factsOf(asked, context) === null
      ? refusal(`no database of this node knows ${asked.ip}`, FORMAT)
      : null,
  ready: ({ outside }) => outside.geo.readiness(),
  resultSchema: RESULT,
  execute: (asked, context) => {
    const { ip, version, range } = asked
    const found = factsOf(asked, context)
    if (found === null) throw new Error(`no database of this node knows ${ip}`)
    const { databases, attribution } = context.outside.geo
    const { country, ...rest } = found
    const facts = { country, countryName: nameOf(country), ...rest }
    const address = { ip, version, reserved: range !== 'unicast', range }
    const sources = { databases: [...databases], attribution }
    return { ...engineEnvelope(ID, 'mmdb', context), ...address, ...facts, ...sources, unknown: unknownIn(facts) }
  },
})
