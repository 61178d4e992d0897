import type { UpstreamAnswer, UpstreamHandler } from './upstream.ts'

const HOUR_MS = 3_600_000
const PATH = '/weatherapi/locationforecast/2.0'

export interface MetNorwaySettings {
  readonly nowMs: () => number
  /** Length of the series in hours. It has an entry for each of the first 60 hours, then for every sixth one. */
  readonly hours?: number
  /** Replaces fields of every moment. */
  readonly instant?: object
}

/** How long an answer may be used. */
export const MET_EXPIRES_MS = 1_800_000

/**
 * MET Norway's Locationforecast: the format of https://api.met.no/doc/ForecastJSON and https://api.met.no/doc/locationforecast/datamodel,
 * and paths of https://api.met.no/weatherapi/locationforecast/2.0/documentation. As https://api.met.no/doc/TermsOfService says, callers
 * without contact details or with more than four decimals get the status 403, and the status of unchanged data is 304.
 */
export function metNorwayUpstream(settings: MetNorwaySettings): UpstreamHandler {
  return ({ path, query, headers }): UpstreamAnswer => {
    if (!/\(.+\)/.test(headers['user-agent'] ?? '')) return { status: 403, body: 'Forbidden' }
    if (path === `${PATH}/status`) return { body: { last_update: '2026-11-22T05:00:00Z' } }
    if (path !== `${PATH}/compact`) return { status: 404, body: 'Not Found' }
    const [lat, lon] = [query.get('lat') ?? '', query.get('lon') ?? '']
    if (/\.\d{5}/.test(`${lat} ${lon}`)) return { status: 403, body: 'Forbidden' }
    if (!/^-?\d+(\.\d+)?$/.test(lat)) return { status: 422, body: 'Unprocessable' }
    const beganMs = Math.floor(settings.nowMs() / HOUR_MS) * HOUR_MS
    const lastModified = new Date(beganMs).toUTCString()
    const expires = new Date(settings.nowMs() + MET_EXPIRES_MS).toUTCString()
    const caching = { 'last-modified': lastModified, expires }
    if (headers['if-modified-since'] === lastModified) return { status: 304, headers: caching, body: '' }
    return {
      headers: { ...caching, 'content-type': 'application/json' },
      body: seriesFrom(beganMs, [lat, lon], settings),
    }
  }
}

/** A series with 0 degrees at midnight UTC and 12 at noon, and a millimetre of rain in each hour of the afternoon. */
function seriesFrom(beganMs: number, [lat, lon]: readonly [string, string], settings: MetNorwaySettings): object {
  const { hours = 120, instant = {} } = settings
  const offsets = Array.from({ length: hours }, (_, hour) => hour).filter((hour) => hour < 60 || hour % 6 === 0)
  const timeseries = offsets.map((hour) => {
    const ms = beganMs + hour * HOUR_MS
    const at = new Date(ms)
    const ofDay = at.getUTCHours()
    const details = {
      air_pressure_at_sea_level: 1014.2,
      air_temperature: ofDay <= 12 ? ofDay : 24 - ofDay,
      cloud_area_fraction: 95.2,
      relative_humidity: 81.1,
      wind_from_direction: 121.3,
      wind_speed: ofDay === 15 ? 10 : 2.5,
      ...instant,
    }
    const symbol = ofDay >= 12 ? 'lightrainshowersandthunder_day' : 'partlycloudy_night'
    const summary = { symbol_code: symbol }
    const rain = (from: number, to: number): number => Math.max(0, Math.min(24, to) - Math.max(12, from))
    const next1 = { next_1_hours: { summary, details: { precipitation_amount: rain(ofDay, ofDay + 1) } } }
    const next6 = { next_6_hours: { summary, details: { precipitation_amount: rain(ofDay, ofDay + 6) } } }
    const ahead = { next_12_hours: { summary, details: {} }, ...next6, ...(hour < 60 && next1) }
    return { time: at.toISOString().replace('.000', ''), data: { instant: { details }, ...ahead } }
  })
  const units = {
    air_pressure_at_sea_level: 'hPa',
    air_temperature: 'celsius',
    cloud_area_fraction: '%',
    precipitation_amount: 'mm',
    relative_humidity: '%',
    wind_from_direction: 'degrees',
    wind_speed: 'm/s',
  }
  const geometry = { type: 'Point', coordinates: [Number(lon), Number(lat), 5] }
  return { type: 'Feature', geometry, properties: { meta: { updated_at: '2026-11-22T05:00:00Z', units }, timeseries } }
}
