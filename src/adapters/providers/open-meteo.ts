import type { Clock } from '../../../consensus/chain/ports.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import type { CurrentWeather, DailyWeather, Place } from '../../../marketplace/ports/providers.ts'
import { DAYS, FORECAST_BYTES_MAX, type Forecast, isTimezone, NOW_MS_MAX, type Spot, tenths } from './forecast.ts'
import { type JsonAt, readJson } from './json-at.ts'
import { plainText } from './plain-text.ts'
import type { Provider } from './provider.ts'
import { providerJson } from './provider-fetch.ts'
import { wmoWords } from './weather-words.ts'

/** Either the `url` of the operator's own instance, or a `key` for the customer hosts. */
export interface OpenMeteoDependencies {
  /** Base address; null for the customer host. */
  readonly url: string | null
  readonly key: string | null
}

const NAME = 'open-meteo'
/** Hosts for paying customers. The free hosts are for non-commercial use only (https://open-meteo.com/en/terms). */
const FORECAST_HOST = 'https://customer-api.open-meteo.com'
const GEOCODING_HOST = 'https://customer-geocoding-api.open-meteo.com'
const NAME_CHARS_MAX = 100
const DAY_MS = 86_400_000
const CHECKED: Spot = { lat: 52.52, lon: 13.41, timezone: null }

const QUERY = {
  current:
    'temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m,wind_direction_10m',
  daily:
    'weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_speed_10m_max',
  temperature_unit: 'celsius',
  wind_speed_unit: 'kmh',
  precipitation_unit: 'mm',
  timezone: 'auto',
  forecast_days: String(DAYS),
}

/** Open-Meteo's forecast (https://open-meteo.com/en/docs). */
export function openMeteo({
  url,
  key,
  clock,
}: OpenMeteoDependencies & { readonly clock: Clock }): Provider<Spot, Forecast> {
  const ask: Provider<Spot, Forecast>['ask'] = async ({ lat, lon }, signal) => {
    const where = { latitude: String(lat), longitude: String(lon) }
    const query = new URLSearchParams({ ...where, ...QUERY, ...(key !== null && { apikey: key }) })
    const address = `${url ?? FORECAST_HOST}/v1/forecast?${query}`
    const answer = await providerJson(NAME, address, { bytesMax: FORECAST_BYTES_MAX, ofCaller: true }, signal)
    return answer.ok ? readJson(NAME, answer.value, (json) => readForecast(json, clock.now())) : answer
  }
  return {
    name: NAME,
    url: 'https://open-meteo.com/',
    attribution: 'Weather data by Open-Meteo.com (CC BY 4.0)',
    ask,
    check: (signal) => ask(CHECKED, signal),
  }
}

/** Open-Meteo's search of places by name (https://open-meteo.com/en/docs/geocoding-api). */
export function openMeteoGeocoder({ url, key }: OpenMeteoDependencies): Provider<string, Place> {
  const ask: Provider<string, Place>['ask'] = async (name, signal) => {
    const words = { name, count: '1', language: 'en', format: 'json' }
    const query = new URLSearchParams({ ...words, ...(key !== null && { apikey: key }) })
    const address = `${url ?? GEOCODING_HOST}/v1/search?${query}`
    const answer = await providerJson(NAME, address, { bytesMax: FORECAST_BYTES_MAX, ofCaller: true }, signal)
    const place = answer.ok ? readJson(NAME, answer.value, readPlace) : answer
    if (!place.ok) return place
    const what = `a place called "${name}"`
    return place.value === null ? fail(fault('provider/not-found', { provider: NAME, what })) : ok(place.value)
  }
  return {
    name: NAME,
    url: 'https://open-meteo.com/',
    attribution: 'Place names by GeoNames (CC BY 4.0)',
    ask,
    check: (signal) => ask('Berlin', signal),
  }
}

/** The answer has no results if no place fits. */
function readPlace(json: JsonAt): Place | null {
  json.at('generationtime_ms').number(0, Number.MAX_VALUE)
  const [found] = json.at('results').maybe((here) => here.list()) ?? []
  if (found === undefined) return null
  const textAt = (key: string): string | null =>
    found.at(key).maybe((here) => plainText(here.text(), NAME_CHARS_MAX)) || null
  const timezone = textAt('timezone')
  return {
    name: textAt('name') ?? found.at('name').wrong('is empty'),
    country: textAt('country') ?? textAt('country_code'),
    lat: found.at('latitude').number(-90, 90),
    lon: found.at('longitude').number(-180, 180),
    timezone: timezone !== null && isTimezone(timezone) ? timezone : null,
  }
}

function readForecast(json: JsonAt, nowMs: number): Forecast {
  readUnits(json)
  const timezone = json.at('timezone').text()
  if (!isTimezone(timezone)) return json.at('timezone').wrong('is no timezone')
  const current = readCurrent(json.at('current'), json.at('utc_offset_seconds').number(-86_400, 86_400))
  // A proxy may replay an old answer, and a server may have lost its data or its clock.
  if (Math.abs(Date.parse(current.observedAt) - nowMs) > NOW_MS_MAX) return json.at('current').wrong('is not of now')
  const today = json.at('current').at('time').text().slice(0, 10)
  return { timezone, daysIn: timezone, current, daily: readDays(json.at('daily'), today), askedMs: nowMs }
}

/** The first day must be today. */
function readDays(daily: JsonAt, today: string): readonly DailyWeather[] {
  const dates = daily.at('time').list()
  if (dates.length < DAYS) return daily.at('time').wrong(`has fewer than ${DAYS} days`)
  const days = dates.slice(0, DAYS).map((date, index) => readDay(daily, date, index))
  const isInOrder = days.every(({ date }, index) => Date.parse(date) === Date.parse(today) + index * DAY_MS)
  return isInOrder ? days : daily.at('time').wrong('does not begin today, or leaves days out')
}

/** Refuses other units: the numbers would mean something else. */
function readUnits(json: JsonAt): void {
  const [now, day] = [json.at('current_units'), json.at('daily_units')]
  for (const unit of [now.at('temperature_2m'), day.at('temperature_2m_max')]) unit.like(/^\u00b0C$/)
  for (const unit of [now.at('precipitation'), day.at('precipitation_sum')]) unit.like(/^mm$/)
  for (const unit of [now.at('wind_speed_10m'), day.at('wind_speed_10m_max')]) unit.like(/^km\/h$/)
}

function readCurrent(now: JsonAt, offsetSeconds: number): CurrentWeather {
  const numberAt = (key: string, min: number, max: number): number | null =>
    now.at(key).maybe((here) => tenths(here.number(min, max)))
  const code = now.at('weather_code').maybe((here) => here.number(0, 99))
  const time = now.at('time').like(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/)
  const ms = Date.parse(`${time}Z`) - offsetSeconds * 1_000
  if (Number.isNaN(ms)) return now.at('time').wrong('is no time')
  return {
    tempC: tenths(now.at('temperature_2m').number(-150, 100)),
    feelsLikeC: numberAt('apparent_temperature', -200, 150),
    humidityPct: numberAt('relative_humidity_2m', 0, 100),
    windKph: numberAt('wind_speed_10m', 0, 1_000),
    windDeg: numberAt('wind_direction_10m', 0, 360),
    precipMm: numberAt('precipitation', 0, 10_000),
    code: code === null ? null : String(code),
    summary: code === null ? 'unknown' : wmoWords(code),
    observedAt: new Date(ms).toISOString(),
  }
}

function readDay(daily: JsonAt, date: JsonAt, index: number): DailyWeather {
  const itemAt = (key: string): JsonAt => daily.at(key).list()[index] ?? daily.at(key).wrong('is too short')
  const numberAt = (key: string, min: number, max: number): number | null =>
    itemAt(key).maybe((here) => tenths(here.number(min, max)))
  const code = itemAt('weather_code').maybe((here) => here.number(0, 99))
  return {
    date: date.like(/^\d{4}-\d{2}-\d{2}$/),
    minC: tenths(itemAt('temperature_2m_min').number(-150, 100)),
    maxC: tenths(itemAt('temperature_2m_max').number(-150, 100)),
    precipMm: numberAt('precipitation_sum', 0, 10_000),
    precipProbPct: numberAt('precipitation_probability_max', 0, 100),
    windMaxKph: numberAt('wind_speed_10m_max', 0, 1_000),
    code: code === null ? null : String(code),
    summary: code === null ? 'unknown' : wmoWords(code),
    wholeDay: true,
  }
}
