import type { CurrentWeather, DailyWeather } from '../../../marketplace/ports/providers.ts'
import { DAYS, type Forecast, NOW_MS_MAX, tenths } from './forecast.ts'
import type { JsonAt } from './json-at.ts'
import { symbolWords } from './weather-words.ts'

/** Weather at one moment of a series, with the precipitation of the hours after it. */
export interface MetEntry {
  readonly atMs: number
  readonly tempC: number
  readonly windKph: number | null
  readonly windDeg: number | null
  readonly humidityPct: number | null
  readonly next1: Ahead | null
  readonly next6: Ahead | null
}

/** Precipitation and symbol of the hours after a moment. */
export interface Ahead {
  readonly precipMm: number | null
  readonly symbol: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const KPH_OF_MS = 3.6
const ENTRIES_MAX = 1_000
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/

/** The format is https://api.met.no/doc/ForecastJSON. */
export function readSeries(json: JsonAt): readonly MetEntry[] {
  json.at('type').like(/^Feature$/)
  const properties = json.at('properties')
  const units = properties.at('meta').at('units')
  units.at('air_temperature').like(/^celsius$/)
  units.at('wind_speed').like(/^m\/s$/)
  units.at('precipitation_amount').like(/^mm$/)
  const series = properties.at('timeseries')
  const entries = series.list().slice(0, ENTRIES_MAX).map(readEntry)
  const isInOrder = entries.every(({ atMs }, index) => atMs > (entries[index - 1]?.atMs ?? 0))
  return isInOrder ? entries : series.wrong('is not in order')
}

function readEntry(entry: JsonAt): MetEntry {
  const data = entry.at('data')
  const details = data.at('instant').at('details')
  const numberAt = (key: string, max: number): number | null => details.at(key).maybe((here) => here.number(0, max))
  const wind = numberAt('wind_speed', 300)
  const humidity = numberAt('relative_humidity', 110)
  const aheadAt = (key: string): Ahead | null => data.at(key).maybe(readAhead)
  return {
    atMs: Date.parse(entry.at('time').like(TIME)),
    tempC: details.at('air_temperature').number(-150, 100),
    windKph: wind === null ? null : wind * KPH_OF_MS,
    windDeg: numberAt('wind_from_direction', 360),
    humidityPct: humidity === null ? null : Math.min(100, humidity),
    next1: aheadAt('next_1_hours'),
    next6: aheadAt('next_6_hours'),
  }
}

function readAhead(ahead: JsonAt): Ahead {
  const amount = ahead.at('details').maybe((details) => details.at('precipitation_amount'))
  return {
    precipMm: amount?.maybe((here) => here.number(0, 10_000)) ?? null,
    symbol: ahead
      .at('summary')
      .at('symbol_code')
      .like(/^[a-z_]{1,60}$/),
  }
}

/**
 * Current weather and three days, the first of which is the rest of today. Null if the series is too short or has no
 * current entry. Days are those of the timezone, or of UTC.
 */
export function forecastOf(
  series: readonly MetEntry[],
  nowMs: number,
  timezone: string | null,
): Omit<Forecast, 'askedMs'> | null {
  const begin = series.findLastIndex(({ atMs }) => atMs <= nowMs)
  const left = series.slice(Math.max(0, begin))
  const [first] = left
  if (first === undefined || Math.abs(nowMs - first.atMs) > NOW_MS_MAX) return null
  const daysIn = timezone ?? 'UTC'
  const local = localTimes(daysIn)
  const days = new Map<string, MetEntry[]>()
  for (const entry of left) {
    const { date } = local(entry.atMs)
    days.set(date, [...(days.get(date) ?? []), entry])
  }
  const today = local(nowMs).date
  const dates = Array.from({ length: DAYS }, (_, index) =>
    new Date(Date.parse(today) + index * DAY_MS).toISOString().slice(0, 10),
  )
  const daily = dates.map((date) => dayOf(date, days.get(date) ?? [], left, { today, hourOf: (ms) => local(ms).hour }))
  const known = daily.filter((day) => day !== null)
  return known.length < DAYS ? null : { timezone, daysIn, current: currentOf(first), daily: known }
}

function localTimes(timeZone: string): (ms: number) => { readonly date: string; readonly hour: number } {
  // The Swedish locale writes dates as ISO 8601.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return (ms) => {
    const [date = '', time = ''] = format.format(ms).split(' ')
    return { date, hour: Number(time.slice(0, 2)) }
  }
}

/** The series has no precipitation of the past. */
function currentOf({ atMs, tempC, windKph, windDeg, humidityPct, next1, next6 }: MetEntry): CurrentWeather {
  const symbol = (next1 ?? next6)?.symbol ?? null
  return {
    tempC: tenths(tempC),
    feelsLikeC: null,
    humidityPct: humidityPct === null ? null : tenths(humidityPct),
    windKph: windKph === null ? null : tenths(windKph),
    windDeg: windDeg === null ? null : tenths(windDeg),
    precipMm: null,
    code: symbol,
    summary: symbol === null ? 'unknown' : symbolWords(symbol),
    observedAt: new Date(atMs).toISOString(),
  }
}

interface DayParts {
  readonly today: string
  readonly hourOf: (ms: number) => number
}

function dayOf(
  date: string,
  entries: readonly MetEntry[],
  series: readonly MetEntry[],
  { today, hourOf }: DayParts,
): DailyWeather | null {
  if (entries.length === 0) return null
  const temps = entries.map(({ tempC }) => tempC)
  const winds = entries.flatMap(({ windKph }) => windKph ?? [])
  const fromNoon = ({ atMs }: MetEntry): number => Math.abs(hourOf(atMs) - 12)
  const noon = entries.reduce((best, entry) => (fromNoon(entry) < fromNoon(best) ? entry : best))
  const symbol = (noon.next6 ?? noon.next1)?.symbol ?? null
  return {
    date,
    minC: tenths(Math.min(...temps)),
    maxC: tenths(Math.max(...temps)),
    precipMm: precipOf(entries, series),
    precipProbPct: null,
    windMaxKph: winds.length === 0 ? null : tenths(Math.max(...winds)),
    code: symbol,
    summary: symbol === null ? 'unknown' : symbolWords(symbol),
    wholeDay: date !== today,
  }
}

/** Millimetres; null if a part is unknown. */
function precipOf(entries: readonly MetEntry[], series: readonly MetEntry[]): number | null {
  let sum = 0
  for (const entry of entries) {
    const next = series[series.indexOf(entry) + 1]
    const apartMs = (next?.atMs ?? Number.POSITIVE_INFINITY) - entry.atMs
    const part = apartMs === HOUR_MS ? entry.next1 : apartMs === 6 * HOUR_MS ? entry.next6 : null
    if (part === null || part.precipMm === null) return null
    sum += part.precipMm
  }
  return tenths(sum)
}
