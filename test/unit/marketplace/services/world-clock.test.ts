import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { runs } from '../../../support/runs.ts'
import { emptyServiceChain } from '../../../support/service-chain.ts'
import { ask, resultOf, serviceNamed } from '../../../support/service-results.ts'

interface Clock {
  readonly iso: string
  readonly unix: number
  readonly offsetMinutes: number
  readonly dst: boolean
  readonly nextTransition: { readonly at: string; readonly offsetAfter: string } | null
}

describe('the world clock', () => {
  let context: ServiceContext
  beforeAll(async () => {
    context = (await emptyServiceChain()).context
  })
  const at = <T = Clock>(zone: string, iso: string): Promise<T> =>
    resultOf<T>('node-world-clock', zone, { ...context, clock: { now: () => Date.parse(iso) } })

  it('shows a moment in a zone', async () => {
    expect(await at('Europe/Berlin', '2026-11-20T12:00:00.250Z')).toEqual({
      service: 'node-world-clock',
      asOf: '2026-11-20T12:00:00.250Z',
      engine: 'temporal',
      timezone: 'Europe/Berlin',
      iso: '2026-11-20T13:00:00.250+01:00',
      date: '2026-11-20',
      time: '13:00:00',
      weekday: 'Friday',
      utcOffset: '+01:00',
      offsetMinutes: 60,
      abbreviation: 'CET',
      dst: false,
      nextTransition: { at: '2027-03-28T01:00:00Z', offsetAfter: '+02:00' },
      unix: 1_795_176_000,
      tzVersion: process.versions.tz,
    })
  })

  it.for([
    [
      'before spring',
      '2026-03-29T00:59:59.999Z',
      '2026-03-29T01:59:59.999+01:00',
      false,
      '2026-03-29T01:00:00Z',
      '+02:00',
    ],
    ['in spring', '2026-03-29T01:00:00.000Z', '2026-03-29T03:00:00.000+02:00', true, '2026-10-25T01:00:00Z', '+01:00'],
    [
      'before autumn',
      '2026-10-25T00:59:59.999Z',
      '2026-10-25T02:59:59.999+02:00',
      true,
      '2026-10-25T01:00:00Z',
      '+01:00',
    ],
    ['in autumn', '2026-10-25T01:00:00.000Z', '2026-10-25T02:00:00.000+01:00', false, '2027-03-28T01:00:00Z', '+02:00'],
  ] as const)('changes to the second: %s', async ([, moment, iso, dst, next, offsetAfter]) => {
    expect(await at('Europe/Berlin', moment)).toMatchObject({ iso, dst, nextTransition: { at: next, offsetAfter } })
  })

  it.for([
    ['Asia/Kolkata', '+05:30', 330, 'IST', false],
    ['Asia/Kathmandu', '+05:45', 345, 'GMT+5:45', false],
    ['Australia/Lord_Howe', '+11:00', 660, 'LHDT', true],
    ['America/New_York', '-05:00', -300, 'EST', false],
    ['Pacific/Kiritimati', '+14:00', 840, 'GMT+14', false],
    ['EST', '-05:00', -300, 'EST', false],
    ['UTC', '+00:00', 0, 'UTC', false],
    ['Etc/GMT+5', '-05:00', -300, 'GMT-5', false],
    ['+05:30', '+05:30', 330, 'GMT+5:30', false],
    ['-0930', '-09:30', -570, 'GMT-9:30', false],
  ] as const)('knows %s', async ([zone, utcOffset, offsetMinutes, abbreviation, dst]) => {
    expect(await at(zone, '2026-11-20T12:00:00Z')).toMatchObject({ utcOffset, offsetMinutes, abbreviation, dst })
  })

  // What `TZ=zone date +%Z` says with tzdata 2026b.
  it.for([
    ['Asia/Tokyo', 'JST', 'JST'],
    ['Japan', 'JST', 'JST'],
    ['Asia/Seoul', 'KST', 'KST'],
    ['Asia/Shanghai', 'CST', 'CST'],
    ['Asia/Manila', 'PST', 'PST'],
    ['Asia/Karachi', 'PKT', 'PKT'],
    ['Asia/Jakarta', 'WIB', 'WIB'],
    ['Asia/Hong_Kong', 'HKT', 'HKT'],
    ['Asia/Jerusalem', 'IST', 'IDT'],
    ['Europe/Moscow', 'MSK', 'MSK'],
    ['Europe/London', 'GMT', 'BST'],
    ['Europe/Jersey', 'GMT', 'BST'],
    ['Africa/Johannesburg', 'SAST', 'SAST'],
    ['Africa/Lagos', 'WAT', 'WAT'],
    ['Africa/Nairobi', 'EAT', 'EAT'],
    ['America/Havana', 'CST', 'CDT'],
    ['America/St_Johns', 'NST', 'NDT'],
    ['America/Hermosillo', 'MST', 'MST'],
    ['America/Adak', 'HST', 'HDT'],
    ['Pacific/Auckland', 'NZDT', 'NZST'],
    ['Pacific/Guam', 'ChST', 'ChST'],
    ['Australia/Perth', 'AWST', 'AWST'],
  ] as const)('calls the time of %s %s in January and %s in July', async ([zone, january, july]) => {
    expect(await at(zone, '2026-01-15T12:00:00Z')).toMatchObject({ abbreviation: january })
    expect(await at(zone, '2026-07-15T12:00:00Z')).toMatchObject({ abbreviation: july })
  })

  it('shows as its sample what it says of its example', async () => {
    const { example, sample } = serviceNamed('node-world-clock')
    expect({ ...(await at<object>(example, '2026-11-20T12:00:00Z')), tzVersion: '' }).toEqual({
      ...sample,
      tzVersion: '',
    })
  })

  it('changes by half an hour where that is the rule', async () => {
    expect(await at('Australia/Lord_Howe', '2026-11-20T12:00:00Z')).toMatchObject({
      nextTransition: { at: '2027-04-03T15:00:00Z', offsetAfter: '+10:30' },
    })
  })

  it('calls summer time what is put forward for a part of the year, also where the law calls winter the exception', async () => {
    expect(await at('Europe/Dublin', '2026-07-01T00:00:00Z')).toMatchObject({ dst: true, abbreviation: 'IST' })
    expect(await at('Europe/Dublin', '2026-12-01T00:00:00Z')).toMatchObject({ dst: false, abbreviation: 'GMT' })
  })

  it('knows of no change where the zone has none', async () => {
    expect(await at('Asia/Tokyo', '2026-11-20T12:00:00Z')).toMatchObject({ nextTransition: null, dst: false })
  })

  it('takes names in any case, and old names, and writes them as they are written', async () => {
    const moment = '2026-11-20T12:00:00Z'
    expect(await at('  europe/BERLIN ', moment)).toMatchObject({ timezone: 'Europe/Berlin' })
    const [old, current] = [await at('asia/calcutta', moment), await at('Asia/Kolkata', moment)]
    expect(old).toEqual({ ...current, timezone: 'Asia/Calcutta' })
  })

  it.for([
    '',
    'GMT+2',
    'Europe/Nowhere',
    '+25:00',
    '2020-01-01T00:00+01:00',
    '20200101T0000Z',
    '2020-01-01T00:00[UTC]',
    '__proto__',
    'Europe/Berlin\u0000',
    'UTC\u2212',
    'A'.repeat(65),
  ])('refuses %j', async (zone) => {
    expect(await ask('node-world-clock', zone, context)).toHaveProperty('refused')
  })

  it.for([
    ['Tokyo', 'Asia/Tokyo'],
    ['berlin', 'Europe/Berlin'],
    ['New York', 'America/New_York'],
    ['America/New York', 'America/New_York'],
    ['Kolkata', 'Asia/Kolkata'],
    ['Buenos Aires', 'America/Buenos_Aires'],
    ['Louisville', 'America/Louisville'],
    ['UTC+2', '+02:00'],
    ['utc -9:30', '-09:30'],
    ['UTC+0545', '+05:45'],
    ['+02:00', '+02:00'],
  ] as const)('takes %s for %s', async ([written, timezone]) => {
    expect(await at(written, '2026-11-20T12:00:00Z')).toMatchObject({ timezone })
  })

  it.for([
    ['Tokio', 'Asia/Tokyo'],
    ['Europe/Berln', 'Europe/Berlin'],
    ['GMT+2', 'UTC+2'],
  ] as const)('knows what is meant by %s', async ([written, meant]) => {
    expect(await ask('node-world-clock', written, context)).toMatchObject({
      refused: `there is no such time zone; did you mean ${meant}?`,
    })
  })

  it('guesses nothing where most of a short word is another', async () => {
    expect(await ask('node-world-clock', 'Mars', context)).toMatchObject({
      refused: 'there is no such time zone',
    })
  })

  it('is right in every zone at any moment', async () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
    const moments = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    await fc.assert(
      fc.asyncProperty(zones, moments, async (zone, moment) => {
        const clock = await at(zone, moment.toISOString())
        expect(Date.parse(clock.iso)).toBe(moment.getTime())
        expect(clock.unix).toBe(Math.floor(moment.getTime() / 1_000))
        expect(clock.iso.slice(0, 19)).toBe(
          new Date(moment.getTime() + clock.offsetMinutes * 60_000).toISOString().slice(0, 19),
        )
        if (clock.nextTransition !== null) expect(Date.parse(clock.nextTransition.at)).toBeGreaterThan(moment.getTime())
      }),
      { numRuns: runs(200) },
    )
  })
})
