import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { meantName } from '../../../consensus/primitives/likeness.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { orNull } from '../amounts.ts'
import { ENGINE_ENVELOPE, engineEnvelope } from '../envelope.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-world-clock' as ServiceId
const FORMAT = {
  requestFormat: 'IANA time zone (Europe/Berlin, any case), its city alone (Berlin), or an offset (+05:30, UTC+2)',
  example: 'Europe/Berlin',
}
const REQUEST_CHARS_MAX = 64
/** Zone names and offsets. Temporal also accepts a whole date as a zone; this pattern does not. */
const ZONE = /^(?:[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*|[+-][0-9]{2}(?::?[0-9]{2})?)$/
/** A UTC offset. GMT offsets are refused: POSIX zones like Etc/GMT+5 count in the other direction. */
const UTC_OFFSET = /^UTC ?([+-])([0-9]{1,2})(?::?([0-9]{2}))?$/i
const NAMES = Intl.supportedValuesOf('timeZone')
const AREAS = [
  'Africa',
  'America',
  'Antarctica',
  'Arctic',
  'Asia',
  'Atlantic',
  'Australia',
  'Europe',
  'Indian',
  'Pacific',
]
const OFFSET = Type.String({ pattern: '^[+-][0-9]{2}:[0-9]{2}$' })
const ENGINE = 'temporal'

const RESULT = Type.Object({
  ...ENGINE_ENVELOPE,
  timezone: Type.String(),
  iso: Type.String({ format: 'date-time' }),
  date: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
  time: Type.String({ pattern: '^[0-9]{2}:[0-9]{2}:[0-9]{2}$' }),
  weekday: Type.String(),
  utcOffset: OFFSET,
  offsetMinutes: Type.Integer({ minimum: -1_440, maximum: 1_440 }),
  abbreviation: Type.String(),
  dst: Type.Boolean(),
  /** Null if the zone has no future change. */
  nextTransition: orNull(Type.Object({ at: Type.String({ format: 'date-time' }), offsetAfter: OFFSET })),
  unix: Type.Integer(),
  tzVersion: Type.String(),
})

const NANOSECONDS_OF_MINUTE = 60_000_000_000
/** Maximum days of summer time. A longer period is the zone's standard time. */
const SUMMER_DAYS_MAX = 300
const MS_OF_DAY = 86_400_000
/** English locales: each knows the abbreviations of nearby zones. */
const ENGLISHES = ['US', 'GB', 'IE', 'AU', 'IN', 'ZA', 'NZ', 'CA', 'HK', 'ID', 'SG', 'GU'].map((place) => `en-${place}`)
/**
 * Abbreviations of the time zone database that no English locale has, or has differently, by offset in minutes: summer
 * and winter time differ. Source: IANA tzdata 2026c.
 */
const ZONE_NAMES: readonly (readonly [name: string, offsetMinutes: number, zones: readonly string[]])[] = [
  ['JST', 540, ['Asia/Tokyo']],
  ['KST', 540, ['Asia/Seoul', 'Asia/Pyongyang']],
  ['CST', 480, ['Asia/Shanghai', 'Asia/Taipei', 'Asia/Macau']],
  ['PST', 480, ['Asia/Manila']],
  ['PKT', 300, ['Asia/Karachi']],
  ['IST', 120, ['Asia/Jerusalem']],
  ['IDT', 180, ['Asia/Jerusalem']],
  ['MSK', 180, ['Europe/Moscow', 'Europe/Kirov', 'Europe/Simferopol', 'Europe/Volgograd']],
  ['BST', 60, ['Europe/Guernsey', 'Europe/Isle_of_Man', 'Europe/Jersey']],
  ['CST', -300, ['America/Havana']],
  ['CDT', -240, ['America/Havana']],
  ['MST', -420, ['America/Dawson', 'America/Hermosillo', 'America/Mazatlan', 'America/Whitehorse']],
  ['SST', -660, ['Pacific/Pago_Pago', 'Pacific/Midway']],
  ['HST', -600, ['America/Adak']],
  ['HDT', -540, ['America/Adak']],
]

function parse(request: string): Result<string> {
  const text = request.trim()
  const [, sign, hours = '', minutes = '00'] = UTC_OFFSET.exec(text) ?? []
  const name = sign === undefined ? text.replace(/ +/g, '_') : `${sign}${hours.padStart(2, '0')}:${minutes}`
  if (!ZONE.test(name)) return unusable('not the name of a time zone', FORMAT)
  const zone = zoneIn(name)
  if (zone !== undefined) return ok(zone)
  const [only, ...others] = zonesOfCity(name)
  if (only !== undefined && others.length === 0) return ok(only)
  const meant = only === undefined ? likeName(name) : [only, ...others].join(' or ')
  return unusable(`there is no such time zone${meant === undefined ? '' : `; did you mean ${meant}?`}`, FORMAT)
}

function zoneIn(name: string): string | undefined {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch {
    return undefined
  }
}

/** Includes former city names and cities in provinces (America/Argentina/...). Aliases of one zone count once. */
function zonesOfCity(city: string): readonly string[] {
  const ending = `/${city.toLowerCase()}`
  const inProvinces = NAMES.filter((name) => name.toLowerCase().endsWith(ending))
  const found = [...inProvinces, ...AREAS.flatMap((area) => zoneIn(`${area}/${city}`) ?? [])]
  return [...new Map(found.map((name) => [zoneOf(name), name])).values()]
}

function likeName(mistyped: string): string | undefined {
  const offset = /^GMT([+-][0-9]{1,2}(?::?[0-9]{2})?)$/i.exec(mistyped)?.[1]
  if (offset !== undefined) return `UTC${offset}`
  const city = (name: string): string => name.slice(name.lastIndexOf('/') + 1)
  const near = meantName(mistyped, mistyped.includes('/') ? NAMES : NAMES.map(city))
  return near === undefined ? undefined : NAMES.find((name) => name === near || city(name) === near)
}

function clockFacts(zone: string, nowMs: number) {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone)
  const next = now.getTimeZoneTransition('next')
  const offsetMinutes = Math.round(now.offsetNanoseconds / NANOSECONDS_OF_MINUTE)
  return {
    timezone: now.timeZoneId,
    iso: now.toString({ timeZoneName: 'never', fractionalSecondDigits: 3 }),
    date: now.toPlainDate().toString(),
    time: now.toPlainTime().toString({ smallestUnit: 'second' }),
    weekday: now.toLocaleString('en-US', { weekday: 'long' }),
    utcOffset: now.offset,
    offsetMinutes,
    abbreviation: abbreviation(zone, offsetMinutes, nowMs),
    dst: isSummerTime(now, next),
    nextTransition: next === null ? null : { at: instantText(next), offsetAfter: next.offset },
    unix: Math.floor(nowMs / 1_000),
  }
}

function instantText(moment: Temporal.ZonedDateTime): string {
  return moment.toInstant().toString()
}

/** Whether the clock was put forward, and will be put back within {@link SUMMER_DAYS_MAX} days of that. */
function isSummerTime(now: Temporal.ZonedDateTime, next: Temporal.ZonedDateTime | null): boolean {
  const began = now.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')
  if (began === null || next === null) return false
  const before = began.subtract({ nanoseconds: 1 })
  const wasPutForward = began.offsetNanoseconds > before.offsetNanoseconds
  const willBePutBack = next.offsetNanoseconds < now.offsetNanoseconds
  const days = (next.epochMilliseconds - began.epochMilliseconds) / MS_OF_DAY
  return wasPutForward && willBePutBack && days < SUMMER_DAYS_MAX
}

/** Abbreviation of the zone's current time; its offset if it has none. */
function abbreviation(zone: string, offsetMinutes: number, nowMs: number): string {
  const names = ENGLISHES.map((locale) => shortName(locale, zone, nowMs))
  const named = ZONE_NAMES.find(([, offset, zones]) => offset === offsetMinutes && zones.includes(zoneOf(zone)))
  return named?.[0] ?? names.find((name) => !/^GMT[+-]/.test(name)) ?? (names[0] as string)
}

/** The current name of a zone: Japan becomes Asia/Tokyo. */
function zoneOf(zone: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone
}

function shortName(locale: string, timeZone: string, nowMs: number): string {
  const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' }).formatToParts(nowMs)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
}

/** The current time in a time zone, and its next change. */
export const worldClock = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'World clock',
  description:
    'Current date and time in a time zone, with UTC offset, abbreviation, whether summer time holds, when the offset changes next (null: never by the rules known today), Unix time and the version of the time zone data.',
  brief: 'Tells the current date and time in any time zone.',
  words: "clock hour day timezone utc now local o'clock",
  capability: 'utility',
  priceUsdMicros: 2_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: ENGINE,
    timezone: 'Europe/Berlin',
    iso: '2026-11-20T13:00:00.000+01:00',
    date: '2026-11-20',
    time: '13:00:00',
    weekday: 'Friday',
    utcOffset: '+01:00',
    offsetMinutes: 60,
    abbreviation: 'CET',
    dst: false,
    nextTransition: { at: '2027-03-28T01:00:00Z', offsetAfter: '+02:00' },
    unix: 1_795_176_000,
    tzVersion: '2026c',
  },
  timeoutMs: 2_000,
  resultBytesMax: 2_048,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  ready: () => ({ available: true, engine: ENGINE }),
  resultSchema: RESULT,
  execute: (zone, context) => ({
    ...engineEnvelope(ID, ENGINE, context),
    ...clockFacts(zone, context.clock.now()),
    tzVersion: process.versions.tz ?? 'unknown',
  }),
})
