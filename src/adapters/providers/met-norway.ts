import type { Clock } from '../../../consensus/chain/ports.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { FORECAST_BYTES_MAX, type Forecast, type Spot } from './forecast.ts'
import { readJson } from './json-at.ts'
import { forecastOf, type MetEntry, readSeries } from './met-series.ts'
import type { Provider } from './provider.ts'
import { type ProviderAnswer, providerFetch } from './provider-fetch.ts'

/** What MET Norway needs. */
export interface MetNorwayDependencies {
  /** Base address; null for the provider's own. */
  readonly url: string | null
  /** Software and a contact address, as MET Norway's terms require. */
  readonly userAgent: string
  readonly clock: Clock
}

interface Kept {
  readonly series: readonly MetEntry[]
  readonly askedMs: number
  readonly lastModified: string | null
  readonly expiresMs: number
}

const NAME = 'met-norway'
const HOST = 'https://api.met.no'
const PATH = '/weatherapi/locationforecast/2.0'
const KEPT_MAX = 300
/** Upper bound of the reuse, whatever the header says. */
const EXPIRES_MS_MAX = 6 * 3_600_000

/**
 * MET Norway's Locationforecast (https://api.met.no/weatherapi/locationforecast/2.0/documentation). Its terms
 * (https://api.met.no/doc/TermsOfService) require that clients identify themselves, do not repeat a query before the
 * answer expires, and then send a conditional request.
 */
export function metNorway({ url, userAgent, clock }: MetNorwayDependencies): Provider<Spot, Forecast> {
  const base = `${url ?? HOST}${PATH}`
  const kept = new LruMap<string, Kept>(KEPT_MAX)
  const get = (path: string, since: string | null, signal: AbortSignal): Promise<Result<ProviderAnswer>> => {
    const headers = {
      'user-agent': userAgent,
      accept: 'application/json',
      ...(since && { 'if-modified-since': since }),
    }
    const alsoAnswers = since === null ? [203] : [203, 304]
    return providerFetch(
      NAME,
      `${base}${path}`,
      { headers, bytesMax: FORECAST_BYTES_MAX, alsoAnswers, ofCaller: true },
      signal,
    )
  }
  const seriesOf = async (where: string, signal: AbortSignal): Promise<Result<Kept>> => {
    const before = kept.get(where)
    if (before !== undefined && clock.now() < before.expiresMs) return ok(before)
    const answer = await get(`/compact?${where}`, before?.lastModified ?? null, signal)
    if (!answer.ok) return answer
    const { status, headers, text } = answer.value
    const series = status === 304 && before !== undefined ? ok(before.series) : readText(text)
    if (!series.ok) return series
    const lastModified = headers.get('last-modified') ?? before?.lastModified ?? null
    const askedMs = clock.now()
    const now = { series: series.value, askedMs, lastModified, expiresMs: expiryOf(headers, askedMs) }
    kept.set(where, now)
    return ok(now)
  }
  return {
    name: NAME,
    url: 'https://api.met.no/',
    attribution: 'Based on data from MET Norway (CC BY 4.0)',
    ask: async ({ lat, lon, timezone }, signal) => {
      const known = await seriesOf(`lat=${lat}&lon=${lon}`, signal)
      if (!known.ok) return known
      const { series, askedMs } = known.value
      const forecast = forecastOf(series, clock.now(), timezone)
      const reason = 'it does not cover now and three days'
      return forecast === null
        ? fail(fault('provider/answer', { provider: NAME, reason }))
        : ok({ ...forecast, askedMs })
    },
    check: (signal) => get('/status', null, signal),
  }
}

function readText(text: string): Result<readonly MetEntry[]> {
  try {
    return readJson(NAME, JSON.parse(text) as unknown, readSeries)
  } catch {
    return fail(fault('provider/answer', { provider: NAME, reason: 'it is not JSON' }))
  }
}

function expiryOf(headers: Headers, nowMs: number): number {
  const ms = Date.parse(headers.get('expires') ?? '')
  return Number.isNaN(ms) ? nowMs : Math.min(ms, nowMs + EXPIRES_MS_MAX)
}
