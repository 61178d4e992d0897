import { Type } from 'typebox'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PlaceQuery, WeatherReport } from '../../ports/providers.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, SOURCE_ENVELOPE, sourceEnvelope } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-weather' as ServiceId
const FORMAT = { requestFormat: '<city> or <lat>,<lon> in degrees', example: '59.91,10.75' }
const CITY_CHARS_MAX = 100
const COORDINATES = /^([+-]?\d{1,3}(?:\.\d{1,4})?)\s*,\s*([+-]?\d{1,3}(?:\.\d{1,4})?)$/
/** Texts that can only be coordinates. */
const LIKE_COORDINATES = /^[\d\s.,;+-]+$/

const TEMP = Type.Number({ minimum: -200, maximum: 150 })
const PERCENT = orNull(Type.Number({ minimum: 0, maximum: 100 }))
const AMOUNT = orNull(Type.Number({ minimum: 0 }))
const CODE = orNull(Type.String({ maxLength: 60 }))
const WORDS = Type.String({ minLength: 1, maxLength: 80 })

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  place: Type.Object({
    name: orNull(Type.String({ maxLength: 100 })),
    country: orNull(Type.String({ maxLength: 100 })),
    lat: Type.Number({ minimum: -90, maximum: 90 }),
    lon: Type.Number({ minimum: -180, maximum: 180 }),
    timezone: orNull(Type.String({ maxLength: 100 })),
  }),
  current: Type.Object({
    tempC: TEMP,
    feelsLikeC: orNull(TEMP),
    humidityPct: PERCENT,
    windKph: AMOUNT,
    windDeg: orNull(Type.Number({ minimum: 0, maximum: 360 })),
    precipMm: AMOUNT,
    code: CODE,
    summary: WORDS,
    observedAt: Type.String({ format: 'date-time' }),
  }),
  daily: Type.Array(
    Type.Object({
      date: Type.String({ format: 'date' }),
      minC: TEMP,
      maxC: TEMP,
      precipMm: AMOUNT,
      precipProbPct: PERCENT,
      windMaxKph: AMOUNT,
      code: CODE,
      summary: WORDS,
      wholeDay: Type.Boolean(),
    }),
    { minItems: 3, maxItems: 3 },
  ),
  daysIn: Type.String({ maxLength: 100 }),
  attribution: Type.String(),
  unknown: UNKNOWN,
})

function parse(request: string): Result<PlaceQuery> {
  const text = request.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  const [, lat, lon] = COORDINATES.exec(text) ?? []
  if (lat !== undefined && lon !== undefined) {
    const query = { lat: Number(lat) + 0, lon: Number(lon) + 0 }
    const isOnEarth = Math.abs(query.lat) <= 90 && Math.abs(query.lon) <= 180
    return isOnEarth ? ok(query) : unusable('latitude is from -90 to 90, longitude from -180 to 180', FORMAT)
  }
  if (text === '') return unusable('there is no place in it', FORMAT)
  if (LIKE_COORDINATES.test(text)) return unusable('coordinates are two numbers with at most 4 decimals', FORMAT)
  if (text.length > CITY_CHARS_MAX) return unusable(`a name has at most ${CITY_CHARS_MAX} characters`, FORMAT)
  return ok({ name: text })
}

function check(query: PlaceQuery, { outside }: ServiceContext): Fault | null {
  const names = outside.weather.names()
  if (!('name' in query) || names.available) return null
  return refusal(`places cannot be found by name here (${names.reason}): give coordinates`, FORMAT)
}

function unknownOf({ place, current, daily }: WeatherReport): string[] {
  const named = (of: string, fields: object): string[] => unknownIn({ ...fields }).map((name) => `${of}.${name}`)
  const all = [...named('place', place), ...named('current', current), ...daily.flatMap((day) => named('daily', day))]
  return [...new Set(all)]
}

/** Current weather of a place, and a three-day forecast. */
export const weather = defineService<PlaceQuery, typeof RESULT>({
  serviceId: ID,
  name: 'Weather',
  description:
    'Current weather of a city or of coordinates with the forecast of three days, today first: temperature, feels-like, humidity, wind, precipitation, summary in words. The result says whose days they are and names the provider.',
  brief: 'Gives the current weather of a place and the forecast of three days.',
  words: 'rain temperature tomorrow today sunny snow wind climate hot cold degrees',
  capability: 'utility',
  priceUsdMicros: 3_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: {
      name: 'open-meteo',
      url: 'https://open-meteo.com/',
      fetchedAt: '2026-11-20T12:00:00.000Z',
      stale: false,
      attribution: 'Weather data by Open-Meteo.com (CC BY 4.0)',
    },
    place: { name: null, country: null, lat: 59.91, lon: 10.75, timezone: 'Europe/Oslo' },
    current: {
      tempC: 1.4,
      feelsLikeC: -2.2,
      humidityPct: 86,
      windKph: 9.4,
      windDeg: 41,
      precipMm: 0,
      code: '3',
      summary: 'overcast',
      observedAt: '2026-11-20T12:00:00.000Z',
    },
    daily: ['2026-11-20', '2026-11-21', '2026-11-22'].map((date, index) => ({
      date,
      minC: -1.5 - index,
      maxC: 2.1 - index,
      precipMm: 0.4,
      precipProbPct: 35,
      windMaxKph: 14.8,
      code: '71',
      summary: 'slight snowfall',
      wholeDay: true,
    })),
    daysIn: 'Europe/Oslo',
    attribution: 'Weather data by Open-Meteo.com (CC BY 4.0)',
    unknown: ['place.name', 'place.country'],
  },
  timeoutMs: 6_000,
  resultBytesMax: 16_384,
  repeatable: true,
  requestCharsMax: 2 * CITY_CHARS_MAX,
  parse,
  check,
  ready: ({ outside }) => outside.weather.readiness(),
  resultSchema: RESULT,
  execute: async (query, context, signal) => {
    const { value, source } = delivered(await context.outside.weather.ask(query, signal))
    return {
      ...sourceEnvelope(ID, source, context),
      place: value.place,
      current: value.current,
      daily: [...value.daily],
      daysIn: value.daysIn,
      attribution: source.attribution ?? '',
      unknown: unknownOf(value),
    }
  },
})
