import type { OutsideConfig, ProviderChoice } from '../../../config/outside-settings.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Place, PlaceQuery, Weather, WeatherReport } from '../../../marketplace/ports/providers.ts'
import type { Readiness } from '../../../marketplace/ports/readiness.ts'
import type { Source, Sourced } from '../../../marketplace/ports/sourced.ts'
import type { ProviderKeys } from '../provider-keys.ts'
import type { Forecast, Spot } from './forecast.ts'
import { metNorway } from './met-norway.ts'
import { openMeteo, openMeteoGeocoder } from './open-meteo.ts'
import type { Provider } from './provider.ts'
import { ProviderChain } from './provider-chain.ts'
import { unusable } from './unusable.ts'

/** What {@link ChainedWeather} needs. */
export interface WeatherDependencies {
  readonly choices: Pick<OutsideConfig['providers'], 'weather' | 'geocoder'>
  readonly keys: ProviderKeys
  /** Software and a contact address; null if the operator gave no contact. */
  readonly userAgent: string | null
  readonly clock: Clock
  readonly timers: Timers
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const WEATHER = 'the weather'
const PLACES = 'places by name'
const NEEDS_KEY =
  'open-meteo needs a key ("open-meteo" in providers.keys-file) or an address of your own (open-meteo=https://...)'

/** One provider chain finds places by name, another gives the weather at coordinates. */
export class ChainedWeather implements Weather {
  readonly chain: ProviderChain<Spot, Forecast>
  readonly geocoder: ProviderChain<string, Place>

  constructor(parts: WeatherDependencies) {
    const { choices, clock, timers } = parts
    this.chain = new ProviderChain({
      what: WEATHER,
      requires: ['providers.weather'],
      providers: choices.weather.map((choice) => weatherOf(choice, parts)),
      keyOf: ({ lat, lon, timezone }) => `${lat},${lon},${timezone ?? ''}`,
      freshMs: 10 * MINUTE_MS,
      staleMs: 2 * HOUR_MS,
      clock,
      timers,
    })
    const places = choices.geocoder.length > 0 ? choices.geocoder : choices.weather.filter(isGeocoder)
    this.geocoder = new ProviderChain({
      what: PLACES,
      requires: ['providers.geocoder'],
      providers: places.map((choice) => geocoderOf(choice, parts)),
      keyOf: (name) => name.normalize('NFC').toLowerCase(),
      freshMs: 24 * HOUR_MS,
      staleMs: 7 * 24 * HOUR_MS,
      clock,
      timers,
    })
  }

  readonly readiness = (): Readiness => this.chain.readiness()

  readonly names = (): Readiness => this.geocoder.readiness()

  readonly ask = async (query: PlaceQuery, signal: AbortSignal): Promise<Result<Sourced<WeatherReport>>> => {
    if (!('name' in query)) return this.#at({ ...query, name: null, country: null, timezone: null }, null, signal)
    const found = await this.geocoder.ask(query.name, signal)
    return found.ok ? this.#at(found.value.value, found.value.source, signal) : found
  }

  async start(): Promise<void> {
    await Promise.all([this.chain.start(), this.geocoder.start()])
  }

  stop(): void {
    this.chain.stop()
    this.geocoder.stop()
  }

  async #at(place: Place, placed: Source | null, signal: AbortSignal): Promise<Result<Sourced<WeatherReport>>> {
    const spot = { lat: hundredths(place.lat), lon: hundredths(place.lon), timezone: place.timezone }
    const forecast = await this.chain.ask(spot, signal)
    if (!forecast.ok) return forecast
    const { value, source } = forecast.value
    const { timezone, askedMs, ...weather } = value
    const words = [source.attribution, placed?.attribution].filter((one) => one !== undefined).join('. ')
    return ok({
      value: { place: { ...place, timezone: place.timezone ?? timezone }, ...weather },
      source: { ...source, fetchedAt: new Date(askedMs).toISOString(), ...(words !== '' && { attribution: words }) },
    })
  }
}

/** Nearby places share an answer. `+ 0` turns -0 into 0. */
function hundredths(degrees: number): number {
  return Number(degrees.toFixed(2)) + 0
}

function isGeocoder({ name }: ProviderChoice): boolean {
  return name === 'open-meteo'
}

function weatherOf(
  { name, url }: ProviderChoice,
  { keys, userAgent, clock }: WeatherDependencies,
): Provider<Spot, Forecast> {
  if (name === 'met-norway') {
    const reason = 'it wants to know who asks: set web.contact'
    return userAgent === null ? unusable(name, WEATHER, reason) : metNorway({ url, userAgent, clock })
  }
  const key = keys.of(name)
  return url === null && key === null ? unusable(name, WEATHER, NEEDS_KEY) : openMeteo({ url, key, clock })
}

function geocoderOf({ name, url }: ProviderChoice, { keys }: WeatherDependencies): Provider<string, Place> {
  const key = keys.of(name)
  return url === null && key === null ? unusable(name, PLACES, NEEDS_KEY) : openMeteoGeocoder({ url, key })
}
