import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshFor, ProviderRates } from '../../../../src/adapters/reference-rates.ts'
import { TestTime } from '../../../support/market-parts.ts'
import {
  ecbUpstream,
  frankfurterUpstream,
  RATED_MS,
  REFERENCE_RATES,
} from '../../../support/upstreams/reference-rates.ts'
import { Upstream } from '../../../support/upstreams/upstream.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe('how long rates are the newest', () => {
  const until = (asked: string, rateDate: string): string => {
    const atMs = Date.parse(asked)
    return new Date(atMs + freshFor(atMs, { rateDate })).toISOString()
  }

  it.each([
    ['before the publication of a day', '2026-11-19T10:00:00Z', '2026-11-18', '2026-11-19T15:15:00.000Z'],
    ['after it', '2026-11-19T15:20:00Z', '2026-11-19', '2026-11-20T15:15:00.000Z'],
    ['on the minute', '2026-11-19T15:15:00Z', '2026-11-19', '2026-11-20T15:15:00.000Z'],
    ['on a Friday evening', '2026-11-20T18:00:00Z', '2026-11-20', '2026-11-23T15:15:00.000Z'],
    ['on a Sunday', '2026-11-22T08:00:00Z', '2026-11-20', '2026-11-23T15:15:00.000Z'],
    ['on Monday before the publication', '2026-11-23T08:00:00Z', '2026-11-20', '2026-11-23T15:15:00.000Z'],
    ['in summer, when it is an hour earlier', '2026-07-14T15:00:00Z', '2026-07-14', '2026-07-15T14:15:00.000Z'],
    ['over the end of summer time', '2026-10-23T15:00:00Z', '2026-10-23', '2026-10-26T15:15:00.000Z'],
  ])('%s', (_, asked, rateDate, end) => {
    expect(until(asked, rateDate)).toBe(end)
  })

  it('is an hour while those of the day should be there and are not', () => {
    expect(until('2026-11-19T16:00:00Z', '2026-11-18')).toBe('2026-11-19T17:00:00.000Z')
    expect(until('2026-11-23T15:00:00Z', '2026-11-19')).toBe('2026-11-23T15:15:00.000Z')
  })
})

describe('rates of several providers', () => {
  const signal = () => AbortSignal.timeout(20_000)
  let first: Upstream
  let second: Upstream
  let time: TestTime
  let rates: ProviderRates
  beforeEach(async () => {
    ;[first, second] = [await Upstream.open(ecbUpstream), await Upstream.open(frankfurterUpstream)]
    time = new TestTime()
    time.nowMs = RATED_MS
    rates = new ProviderRates({
      choices: [
        { name: 'ecb', url: first.url },
        { name: 'frankfurter', url: second.url },
      ],
      clock: time,
      timers: time,
    })
  })
  afterEach(async () => {
    rates.stop()
    expect(time.waiting).toBe(0)
    await first.close()
    await second.close()
  })

  it('are known from the start, and asked for once until the next publication', async () => {
    expect(rates.known()).toBeNull()
    await rates.start()
    expect(rates.known()).toEqual(REFERENCE_RATES)
    expect([first.count(), second.count()]).toEqual([2, 1])
    expect(await rates.ask(null, signal())).toMatchObject({
      value: { value: REFERENCE_RATES, source: { name: 'ecb', stale: false } },
    })
    expect([first.count(), second.count()]).toEqual([2, 1])
    time.nowMs = Date.parse('2026-11-23T15:15:00Z')
    await rates.ask(null, signal())
    expect(first.count()).toBe(3)
  })

  it('come from the second where the first fails', async () => {
    await rates.start()
    first.profile = '500'
    time.nowMs += 3 * DAY_MS
    expect(await rates.ask(null, signal())).toMatchObject({ value: { source: { name: 'frankfurter', stale: false } } })
  })

  it('are those of the last days, marked, for five days while no source can be asked', async () => {
    await rates.start()
    first.profile = '500'
    second.profile = '500'
    time.nowMs = RATED_MS + 5 * DAY_MS
    for (let times = 0; times < 5; times++) {
      const said = await rates.ask(null, signal())
      expect(said).toMatchObject({ value: { value: REFERENCE_RATES, source: { name: 'ecb', stale: true } } })
    }
    // Both breakers are open now; rates are still sold for the rest of the five days.
    expect(rates.facts.map(({ usable }) => usable)).toEqual([false, false])
    expect(rates.readiness()).toEqual({ available: true, engine: 'ecb' })
    time.nowMs += 1
    expect(rates.readiness()).toMatchObject({ available: false })
    expect(rates.known()).toBeNull()
    expect(await rates.ask(null, signal())).toMatchObject({ ok: false, fault: { code: 'provider/none' } })
  })

  it('without a source are not configured', async () => {
    const none = new ProviderRates({ choices: [], clock: time, timers: time })
    await none.start()
    expect(none.readiness()).toMatchObject({ available: false, requires: ['providers.rates'] })
    expect([none.known(), none.facts]).toEqual([null, []])
  })
})
