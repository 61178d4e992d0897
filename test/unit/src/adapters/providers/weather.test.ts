import { afterEach, describe, expect, it } from 'vitest'
import { ProviderKeys } from '../../../../../src/adapters/provider-keys.ts'
import { metNorway } from '../../../../../src/adapters/providers/met-norway.ts'
import { openMeteo, openMeteoGeocoder } from '../../../../../src/adapters/providers/open-meteo.ts'
import { ChainedWeather, type WeatherDependencies } from '../../../../../src/adapters/providers/weather.ts'
import { symbolWords, wmoWords } from '../../../../../src/adapters/providers/weather-words.ts'
import { systemClock, systemTimers } from '../../../../../src/daemon/runtime.ts'
import { TestTime } from '../../../../support/market-parts.ts'
import { MET_EXPIRES_MS, metNorwayUpstream } from '../../../../support/upstreams/met-norway.ts'
import { OPEN_METEO_KEY, openMeteoUpstream } from '../../../../support/upstreams/open-meteo.ts'
import { describeProvider } from '../../../../support/upstreams/provider-suite.ts'
import { Upstream, type UpstreamHandler } from '../../../../support/upstreams/upstream.ts'

const signal = AbortSignal.timeout(60_000)
const SPOT = { lat: 59.91, lon: 10.75, timezone: null }
const AGENT = 'Farthing/test (+mailto:operator@example.org)'
/** The morning of the same day, 07:20 in Berlin: the time of the Open-Meteo tests. */
const MORNING_MS = Date.UTC(2026, 10, 22, 6, 20)
/** 2026-11-22, 15:20 UTC. */
const NOW_MS = Date.UTC(2026, 10, 22, 15, 20)

function timeAt(nowMs = NOW_MS): TestTime {
  const time = new TestTime()
  time.nowMs = nowMs
  return time
}

const BERLIN = { name: 'Berlin', country: 'Germany', lat: 52.52437, lon: 13.41053, timezone: 'Europe/Berlin' }
const OF_OPEN_METEO = {
  askedMs: MORNING_MS,
  timezone: 'Europe/Berlin',
  daysIn: 'Europe/Berlin',
  current: {
    tempC: 3.4,
    feelsLikeC: -0.6,
    humidityPct: 87,
    windKph: 14.2,
    windDeg: 231,
    precipMm: 0.1,
    code: '61',
    summary: 'slight rain',
    observedAt: '2026-11-22T06:15:00.000Z',
  },
  daily: [
    ['2026-11-22', 1.2, 5.1, 4.2, 98, 22.7, '61', 'slight rain'] as const,
    ['2026-11-23', 0, 4, 0, 10, 12.3, '3', 'overcast'] as const,
    ['2026-11-24', -2.9, 2.9, 0, null, 8.9, '45', 'fog'] as const,
  ].map(([date, minC, maxC, precipMm, precipProbPct, windMaxKph, code, summary]) => ({
    ...{ date, minC, maxC, precipMm, precipProbPct, windMaxKph, code, summary, wholeDay: true },
  })),
}

const SHOWERS = { code: 'lightrainshowersandthunder_day', summary: 'light rain showers and thunder' }
const OF_MET = {
  askedMs: NOW_MS,
  timezone: null,
  daysIn: 'UTC',
  current: {
    tempC: 9,
    feelsLikeC: null,
    humidityPct: 81.1,
    windKph: 36,
    windDeg: 121.3,
    precipMm: null,
    ...SHOWERS,
    observedAt: '2026-11-22T15:00:00.000Z',
  },
  daily: [
    {
      date: '2026-11-22',
      minC: 1,
      maxC: 9,
      precipMm: 9,
      precipProbPct: null,
      windMaxKph: 36,
      ...SHOWERS,
      wholeDay: false,
    },
    {
      date: '2026-11-23',
      minC: 0,
      maxC: 12,
      precipMm: 12,
      precipProbPct: null,
      windMaxKph: 36,
      ...SHOWERS,
      wholeDay: true,
    },
    {
      date: '2026-11-24',
      minC: 0,
      maxC: 12,
      precipMm: 12,
      precipProbPct: null,
      windMaxKph: 36,
      ...SHOWERS,
      wholeDay: true,
    },
  ],
}

describeProvider({
  name: 'open-meteo',
  handler: openMeteoUpstream({ wantsKey: true, nowMs: () => MORNING_MS }),
  open: (url) => ({
    ask: (asked) => openMeteo({ url, key: OPEN_METEO_KEY, clock: timeAt(MORNING_MS) }).ask(SPOT, asked),
  }),
  answer: OF_OPEN_METEO,
})

describeProvider({
  name: "open-meteo's geocoder",
  handler: openMeteoUpstream(),
  open: (url) => ({ ask: (asked) => openMeteoGeocoder({ url, key: null }).ask('Berlin', asked) }),
  answer: BERLIN,
})

describeProvider({
  name: 'met-norway',
  handler: metNorwayUpstream({ nowMs: () => NOW_MS }),
  open: (url) => ({ ask: (asked) => metNorway({ url, userAgent: AGENT, clock: timeAt() }).ask(SPOT, asked) }),
  answer: OF_MET,
})

const opened: Upstream[] = []
afterEach(async () => {
  for (const upstream of opened.splice(0)) await upstream.close()
})

async function upstreamOf(handler: UpstreamHandler): Promise<Upstream> {
  const upstream = await Upstream.open(handler)
  opened.push(upstream)
  return upstream
}

/** Days with the same weather. */
function daysOf(...time: readonly string[]): object {
  const each = (value: number) => time.map(() => value)
  return {
    time,
    weather_code: each(3),
    temperature_2m_max: each(4),
    temperature_2m_min: each(0),
    precipitation_sum: each(0),
    precipitation_probability_max: each(0),
    wind_speed_10m_max: each(1),
  }
}

describe('open-meteo', () => {
  it.each([
    ['other units', { current_units: { temperature_2m: '\u00b0F', precipitation: 'mm', wind_speed_10m: 'km/h' } }],
    ['no such timezone', { timezone: 'Mars/Olympus' }],
    ['two days', { daily: { time: ['2026-11-22', '2026-11-23'] } }],
    ['the weather of last week', { current: { time: '2026-11-15T07:15', temperature_2m: 3 } }],
    ['the weather of tonight', { current: { time: '2026-11-22T23:15', temperature_2m: 3 } }],
    ['days of last week', { daily: daysOf('2026-11-15', '2026-11-16', '2026-11-17') }],
    ['one day twice', { daily: daysOf('2026-11-22', '2026-11-22', '2026-11-23') }],
    ['a day left out', { daily: daysOf('2026-11-22', '2026-11-24', '2026-11-25') }],
    ['days that are none', { daily: daysOf('2026-11-22', '2026-11-31', '2026-13-01') }],
    ['no temperature', { current: { time: '2026-11-22T07:15', temperature_2m: null } }],
  ])('is not believed with %s', async (_, forecast) => {
    const { url } = await upstreamOf(openMeteoUpstream({ forecast, nowMs: () => MORNING_MS }))
    const said = await openMeteo({ url, key: null, clock: timeAt(MORNING_MS) }).ask(SPOT, signal)
    expect(said).toMatchObject({ ok: false, fault: { code: 'provider/answer' } })
  })

  it('leaves unknown what it does not tell', async () => {
    const current = { time: '2026-11-22T07:15', temperature_2m: -3, weather_code: null }
    const { url } = await upstreamOf(openMeteoUpstream({ forecast: { current }, nowMs: () => MORNING_MS }))
    expect(await openMeteo({ url, key: null, clock: timeAt(MORNING_MS) }).ask(SPOT, signal)).toMatchObject({
      ok: true,
      value: { current: { tempC: -3, feelsLikeC: null, windKph: null, code: null, summary: 'unknown' } },
    })
  })

  it('says of a place that it does not know that it does not', async () => {
    const { url } = await upstreamOf(openMeteoUpstream())
    const said = await openMeteoGeocoder({ url, key: null }).ask('Nowhere', signal)
    expect(said).toMatchObject({ ok: false, fault: { code: 'provider/not-found' } })
  })
})

describe('met-norway', () => {
  it('gets the name of the asking program', async () => {
    const upstream = await upstreamOf(metNorwayUpstream({ nowMs: () => NOW_MS }))
    const provider = metNorway({ url: upstream.url, userAgent: AGENT, clock: timeAt() })
    expect(await provider.check(signal)).toMatchObject({ ok: true })
    expect(upstream.requests[0]?.headers['user-agent']).toBe(AGENT)
    const unnamed = metNorway({ url: upstream.url, userAgent: 'node', clock: timeAt() })
    expect(await unnamed.check(signal)).toMatchObject({ ok: false, fault: { code: 'provider/refused' } })
  })

  it('is not asked again before its answer expires, and then whether it changed', async () => {
    const time = timeAt()
    const upstream = await upstreamOf(metNorwayUpstream({ nowMs: () => time.now() }))
    const provider = metNorway({ url: upstream.url, userAgent: AGENT, clock: time })
    const first = await provider.ask(SPOT, signal)
    time.pass(MET_EXPIRES_MS - 2_000)
    expect(await provider.ask(SPOT, signal)).toEqual(first)
    expect(upstream.count()).toBe(1)
    time.pass(4_000)
    expect(await provider.ask(SPOT, signal)).toEqual({
      ok: true,
      value: { ...(first.ok ? first.value : null), askedMs: time.now() },
    })
    const asked = upstream.requests.map(({ headers }) => headers['if-modified-since'])
    expect(asked).toEqual([undefined, 'Sun, 22 Nov 2026 15:00:00 GMT'])
    time.pass(MET_EXPIRES_MS + 2_000)
    expect(await provider.ask(SPOT, signal)).toMatchObject({
      ok: true,
      value: { current: { tempC: 8, observedAt: '2026-11-22T16:00:00.000Z' } },
    })
  })

  it("counts the days of the place's timezone where that is known", async () => {
    const time = timeAt(Date.UTC(2026, 10, 22, 23, 30))
    const { url } = await upstreamOf(metNorwayUpstream({ nowMs: () => time.now() }))
    const provider = metNorway({ url, userAgent: AGENT, clock: time })
    const daily = async (timezone: string | null) => {
      const said = await provider.ask({ ...SPOT, timezone }, signal)
      return said.ok ? said.value.daily.map(({ date }) => date) : said.fault.code
    }
    expect(await daily(null)).toEqual(['2026-11-22', '2026-11-23', '2026-11-24'])
    expect(await daily('Asia/Tokyo')).toEqual(['2026-11-23', '2026-11-24', '2026-11-25'])
    expect(await daily('America/New_York')).toEqual(['2026-11-22', '2026-11-23', '2026-11-24'])
  })

  it.each([
    ['that ends too early', { hours: 20 }, 'provider/answer'],
    ['in other words', { instant: { air_temperature: 'cold' } }, 'provider/answer'],
  ])('with a series %s has not answered', async (_, settings, code) => {
    const { url } = await upstreamOf(metNorwayUpstream({ nowMs: () => NOW_MS, ...settings }))
    const said = await metNorway({ url, userAgent: AGENT, clock: timeAt() }).ask(SPOT, signal)
    expect(said).toMatchObject({ ok: false, fault: { code } })
  })

  it('with a series of yesterday has not answered', async () => {
    const { url } = await upstreamOf(metNorwayUpstream({ nowMs: () => NOW_MS, hours: 240 }))
    for (const hours of [-5, 24 * 9.8]) {
      const clock = timeAt(NOW_MS + hours * 3_600_000)
      const said = await metNorway({ url, userAgent: AGENT, clock }).ask(SPOT, signal)
      expect(said).toMatchObject({ ok: false, fault: { code: 'provider/answer' } })
    }
  })
})

describe('the weather', () => {
  const weatherOf = (parts: Partial<WeatherDependencies>, choices: Partial<WeatherDependencies['choices']>) =>
    new ChainedWeather({
      choices: { weather: [], geocoder: [], ...choices },
      keys: new ProviderKeys(),
      userAgent: AGENT,
      clock: systemClock,
      timers: systemTimers,
      ...parts,
    })

  it('of a name is that of the place that has it', async () => {
    const upstream = await upstreamOf(openMeteoUpstream({ nowMs: () => MORNING_MS }))
    const clock = timeAt(MORNING_MS)
    const weather = weatherOf({ clock }, { weather: [{ name: 'open-meteo', url: upstream.url }] })
    expect(await weather.ask({ name: 'Berlin' }, signal)).toMatchObject({
      ok: true,
      value: {
        value: { place: BERLIN, current: OF_OPEN_METEO.current },
        source: { name: 'open-meteo', attribution: expect.stringMatching(/Open-Meteo.*GeoNames/) },
      },
    })
    await weather.ask({ name: 'BERLIN' }, signal)
    await weather.ask({ lat: 52.5199, lon: 13.4112 }, signal)
    const forecasts = upstream.requests.filter(({ path }) => path === '/v1/forecast')
    expect(forecasts.map(({ query }) => [query.get('latitude'), query.get('longitude')])).toEqual([
      ['52.52', '13.41'],
      ['52.52', '13.41'],
    ])
    expect(upstream.count('/v1/search')).toBe(1)
    await weather.ask({ lat: 52.5203, lon: 13.4088 }, signal)
    expect(upstream.count('/v1/forecast')).toBe(2)
  })

  it('comes from the second provider where the first fails', async () => {
    const time = timeAt()
    const [first, second] = [
      await upstreamOf(openMeteoUpstream()),
      await upstreamOf(metNorwayUpstream({ nowMs: () => NOW_MS })),
    ]
    const choices = [
      { name: 'open-meteo', url: first.url },
      { name: 'met-norway', url: second.url },
    ]
    const weather = weatherOf({ clock: time }, { weather: choices })
    first.profile = ({ path }) => (path === '/v1/forecast' ? '500' : 'ok')
    expect(await weather.ask({ name: 'Berlin' }, signal)).toMatchObject({
      ok: true,
      value: {
        value: { place: BERLIN, daysIn: 'Europe/Berlin' },
        source: { name: 'met-norway', attribution: expect.stringMatching(/MET Norway.*GeoNames/) },
      },
    })
  })

  it('is as old as the answer that it is from, however often that is used', async () => {
    const time = timeAt()
    const { url } = await upstreamOf(metNorwayUpstream({ nowMs: () => NOW_MS }))
    const weather = weatherOf({ clock: time }, { weather: [{ name: 'met-norway', url }] })
    const source = { name: 'met-norway', fetchedAt: new Date(NOW_MS).toISOString(), stale: false }
    for (const passedMs of [0, 5, 10].map((minutes) => minutes * 60_000)) {
      time.pass(passedMs)
      const said = await weather.ask({ lat: 59.91, lon: 10.75 }, signal)
      expect(said).toMatchObject({ ok: true, value: { source } })
    }
  })

  it('of an unknown place is not reported, nor asked for', async () => {
    const upstream = await upstreamOf(openMeteoUpstream())
    const weather = weatherOf({}, { weather: [{ name: 'open-meteo', url: upstream.url }] })
    const said = await weather.ask({ name: 'Nowhere' }, signal)
    expect(said).toMatchObject({ ok: false, fault: { code: 'provider/not-found' } })
    expect(upstream.count('/v1/forecast')).toBe(0)
  })

  it('needs a key or an address for open-meteo, and a contact for met-norway', async () => {
    const choices = [
      { name: 'open-meteo', url: null },
      { name: 'met-norway', url: null },
    ]
    const weather = weatherOf({ userAgent: null }, { weather: choices })
    await Promise.all([weather.chain.checkAll(), weather.geocoder.checkAll()])
    expect(weather.readiness()).toMatchObject({
      available: false,
      reason: expect.stringMatching(/"open-meteo" in providers\.keys-file.*web\.contact/),
    })
    expect(weather.names()).toMatchObject({ available: false })
  })

  it('of names needs a source of their places', async () => {
    const weather = weatherOf({}, { weather: [{ name: 'met-norway', url: null }] })
    expect(weather.names()).toMatchObject({ available: false, requires: ['providers.geocoder'] })
    expect(await weather.ask({ name: 'Berlin' }, signal)).toMatchObject({ ok: false, fault: { code: 'provider/none' } })
  })
})

describe('weather codes', () => {
  it.each([
    ['clearsky_day', 'clear sky'],
    ['partlycloudy_polartwilight', 'partly cloudy'],
    ['lightssnowshowersandthunder_night', 'light snow showers and thunder'],
    ['heavyrain', 'heavy rain'],
    ['sleetandthunder', 'sleet and thunder'],
    ['somethingnew_day', 'somethingnew'],
  ])('%s reads %s', (code, words) => {
    expect(symbolWords(code)).toBe(words)
  })

  it('of the WMO read as words, or as their number', () => {
    expect([0, 66, 99, 42].map(wmoWords)).toEqual([
      'clear sky',
      'light freezing rain',
      'thunderstorm with heavy hail',
      'weather code 42',
    ])
  })
})
