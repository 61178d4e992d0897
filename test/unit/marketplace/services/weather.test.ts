import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { weather as service } from '../../../../marketplace/services/providers/weather.ts'
import { checkRequest, readRequest } from '../../../../marketplace/services/service.ts'
import { ProviderKeys } from '../../../../src/adapters/provider-keys.ts'
import { ChainedWeather } from '../../../../src/adapters/providers/weather.ts'
import { systemClock, systemTimers } from '../../../../src/daemon/runtime.ts'
import { outsideOf } from '../../../support/outside.ts'
import { emptyServiceChain } from '../../../support/service-chain.ts'
import { metNorwayUpstream } from '../../../support/upstreams/met-norway.ts'
import { openMeteoUpstream } from '../../../support/upstreams/open-meteo.ts'
import { describeService } from '../../../support/upstreams/provider-suite.ts'

let context: ServiceContext
beforeAll(async () => {
  context = (await emptyServiceChain(2)).context
})

const openAs = (name: string) => async (url: string) => {
  const weather = new ChainedWeather({
    choices: { weather: [{ name, url }], geocoder: [] },
    keys: new ProviderKeys(),
    userAgent: 'Farthing/test (+mailto:operator@example.org)',
    clock: systemClock,
    timers: systemTimers,
  })
  await weather.start()
  return { context: { ...context, outside: outsideOf({ weather }) }, stop: () => weather.stop() }
}

/** The current day in Berlin and the next two. */
function daysFrom(result: object): readonly string[] {
  const { current } = result as { readonly current: { readonly observedAt: string } }
  const today = Temporal.Instant.from(current.observedAt).toZonedDateTimeISO('Europe/Berlin').toPlainDate()
  return [0, 1, 2].map((days) => today.add({ days }).toString())
}

describeService({
  service,
  request: ' Berlin ',
  handler: openMeteoUpstream(),
  open: openAs('open-meteo'),
  verify: (result) => {
    expect(result).toMatchObject({
      service: 'node-weather',
      source: { name: 'open-meteo', stale: false },
      place: { name: 'Berlin', country: 'Germany', timezone: 'Europe/Berlin' },
      current: { tempC: 3.4, summary: 'slight rain' },
      daily: daysFrom(result).map((date, index) => ({ date, precipProbPct: [98, 10, null][index] })),
      daysIn: 'Europe/Berlin',
      attribution: expect.stringContaining('GeoNames'),
      unknown: ['daily.precipProbPct'],
    })
  },
})

describeService({
  service,
  request: '59.91, 10.75',
  handler: metNorwayUpstream({ nowMs: () => Date.now() }),
  open: openAs('met-norway'),
  verify: (result) => {
    expect(result).toMatchObject({
      source: { name: 'met-norway' },
      place: { name: null, lat: 59.91, lon: 10.75, timezone: null },
      current: { humidityPct: 81.1 },
      daily: [{ wholeDay: false }, { wholeDay: true, precipMm: 12 }, { wholeDay: true }],
      daysIn: 'UTC',
      attribution: 'Based on data from MET Norway (CC BY 4.0)',
      unknown: [
        'place.name',
        'place.country',
        'place.timezone',
        'current.feelsLikeC',
        'current.precipMm',
        'daily.precipProbPct',
      ],
    })
  },
})

describe('a place', () => {
  it.each([
    ['Berlin', { name: 'Berlin' }],
    ['  S\u00e3o \n Paulo ', { name: 'S\u00e3o Paulo' }],
    ['52.52,13.41', { lat: 52.52, lon: 13.41 }],
    ['-33.8688 , +151.2093', { lat: -33.8688, lon: 151.2093 }],
    ['-0,-0', { lat: 0, lon: 0 }],
    ['90,-180', { lat: 90, lon: -180 }],
  ])('%j is read', (request, query) => {
    expect(readRequest(service, request)).toEqual({ ok: true, value: query })
  })

  it.each([
    '',
    ' ',
    '91,0',
    '0,181',
    '1.23456,2',
    '52.52 13.41',
    '52,52,13',
    '1e1,2'.replace('e', ';'),
    'x'.repeat(101),
  ])('%j is refused', (request) => {
    expect(readRequest(service, request)).toMatchObject({ ok: false, fault: { code: 'service/invalid-request' } })
  })

  it('by name is refused before the caller pays where names cannot be found', async () => {
    const { context: placeless, stop } = await openAs('met-norway')('http://127.0.0.1:1')
    expect(checkRequest(service, 'Berlin', placeless)).toMatchObject({
      ok: false,
      fault: { code: 'service/invalid-request', detail: { reason: expect.stringContaining('give coordinates') } },
    })
    expect(checkRequest(service, '52.52,13.41', placeless)).toMatchObject({ ok: true })
    stop()
  })
})
