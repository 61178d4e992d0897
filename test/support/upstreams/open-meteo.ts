import type { UpstreamAnswer, UpstreamHandler, UpstreamRequest } from './upstream.ts'

/** Key that the fake accepts if it wants one. */
export const OPEN_METEO_KEY = 'open-meteo-test-key'

/** Known places, as in https://open-meteo.com/en/docs/geocoding-api. Empty fields are left out. */
const PLACES: Readonly<Record<string, object>> = {
  berlin: {
    id: 2950159,
    name: 'Berlin',
    latitude: 52.52437,
    longitude: 13.41053,
    elevation: 74,
    feature_code: 'PPLC',
    country_code: 'DE',
    timezone: 'Europe/Berlin',
    population: 3426354,
    country: 'Germany',
    admin1: 'Berlin',
  },
  somewhere: { id: 1, name: 'Somewhere', latitude: -1.005, longitude: 0, feature_code: 'PPL' },
}

/** Time zone of the days of a forecast, for every place. */
const ZONE = 'Europe/Berlin'
const STEP_MINUTES = 15

const CURRENT = {
  interval: 900,
  temperature_2m: 3.44,
  apparent_temperature: -0.6,
  relative_humidity_2m: 87,
  precipitation: 0.1,
  weather_code: 61,
  wind_speed_10m: 14.2,
  wind_direction_10m: 231,
}
const CURRENT_UNITS = {
  time: 'iso8601',
  interval: 'seconds',
  temperature_2m: '\u00b0C',
  apparent_temperature: '\u00b0C',
  relative_humidity_2m: '%',
  precipitation: 'mm',
  weather_code: 'wmo code',
  wind_speed_10m: 'km/h',
  wind_direction_10m: '\u00b0',
}
const DAILY = {
  weather_code: [61, 3, 45],
  temperature_2m_max: [5.1, 4, 2.9],
  temperature_2m_min: [1.2, 0, -2.9],
  precipitation_sum: [4.2, 0, 0],
  precipitation_probability_max: [98, 10, null],
  wind_speed_10m_max: [22.7, 12.3, 8.9],
}
const DAILY_UNITS = {
  time: 'iso8601',
  weather_code: 'wmo code',
  temperature_2m_max: '\u00b0C',
  temperature_2m_min: '\u00b0C',
  precipitation_sum: 'mm',
  precipitation_probability_max: '%',
  wind_speed_10m_max: 'km/h',
}

export interface OpenMeteoSettings {
  /** Whether it is the server for customers: https://open-meteo.com/en/pricing. */
  readonly wantsKey?: boolean
  /** Replaces fields of the forecast. */
  readonly forecast?: object
  /** Its clock, by default the system's. */
  readonly nowMs?: () => number
}

/**
 * Open-Meteo: forecast (parameters, fields, units and errors: https://open-meteo.com/en/docs) and search for places
 * (https://open-meteo.com/en/docs/geocoding-api). A forecast has only the requested fields.
 */
export function openMeteoUpstream(settings: OpenMeteoSettings = {}): UpstreamHandler {
  const { wantsKey = false, forecast = {}, nowMs = Date.now } = settings
  return (request): UpstreamAnswer => {
    const { path, query } = request
    if (wantsKey && query.get('apikey') !== OPEN_METEO_KEY) return wrong('The supplied API key is invalid.')
    if (path === '/v1/search') return search(query.get('name') ?? '')
    return path === '/v1/forecast' ? forecastOf(request, nowMs(), forecast) : { status: 404, body: 'Not Found' }
  }
}

function search(name: string): UpstreamAnswer {
  const place = PLACES[name.toLowerCase()]
  return { body: { ...(place !== undefined && { results: [place] }), generationtime_ms: 0.54 } }
}

function forecastOf({ query }: UpstreamRequest, nowMs: number, replaced: object): UpstreamAnswer {
  const [latitude, longitude] = [Number(query.get('latitude')), Number(query.get('longitude'))]
  if (!(Math.abs(latitude) <= 90)) return wrong('Latitude must be in range of -90 to 90\u00b0.')
  if (query.get('timezone') !== 'auto' || query.get('forecast_days') !== '3') return wrong('Not in this test.')
  const chosen = (of: object, key: string): object => {
    const names = ['time', 'interval', ...(query.get(key) ?? '').split(',')]
    return Object.fromEntries(Object.entries(of).filter(([name]) => names.includes(name)))
  }
  const place = { latitude, longitude, elevation: 38, generationtime_ms: 0.11 }
  const local = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(ZONE)
  const step = local.round({ smallestUnit: 'minute', roundingIncrement: STEP_MINUTES, roundingMode: 'floor' })
  const offset = local.offsetNanoseconds / 1e9
  const zone = { utc_offset_seconds: offset, timezone: ZONE, timezone_abbreviation: `GMT+${offset / 3_600}` }
  const current = { time: step.toPlainDateTime().toString({ smallestUnit: 'minute' }), ...CURRENT }
  const daily = { time: [0, 1, 2].map((days) => local.toPlainDate().add({ days }).toString()), ...DAILY }
  const now = { current_units: chosen(CURRENT_UNITS, 'current'), current: chosen(current, 'current') }
  const days = { daily_units: chosen(DAILY_UNITS, 'daily'), daily: chosen(daily, 'daily') }
  return { body: { ...place, ...zone, ...now, ...days, ...replaced } }
}

function wrong(reason: string): UpstreamAnswer {
  return { status: 400, body: { error: true, reason } }
}
