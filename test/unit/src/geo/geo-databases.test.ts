import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { FileGeoDatabases } from '../../../../src/geo/geo-databases.ts'
import { type MmdbParts, mmdb } from '../../../support/mmdb.ts'
import { removeFolder, temporaryFolder, until } from '../../../support/processes.ts'

/** A record as in the databases of GeoIP2 and DB-IP (https://dev.maxmind.com/geoip/docs/databases/city-and-country). */
const FRANKFURT = {
  city: { names: { en: 'Frankfurt am Main', de: 'Frankfurt' } },
  country: { iso_code: 'DE', is_in_european_union: true },
  location: { latitude: 50.1155, longitude: 8.6842, accuracy_radius: 20, time_zone: 'Europe/Berlin' },
  subdivisions: [{ iso_code: 'HE', names: { en: 'Hesse' } }],
}
const ZURICH = {
  city: { names: { en: 'Zürich' } },
  country: { iso_code: 'CH' },
  location: { latitude: -0.5, longitude: 8.55 },
}
const CITY: MmdbParts = {
  type: 'GeoLite2-City',
  networks: { '193.0.6.0/24': FRANKFURT, '198.41.0.0/16': ZURICH, '2001:7f8::/32': FRANKFURT },
}
const ASN: MmdbParts = {
  type: 'asn ipvAll',
  networks: { '193.0.0.0/16': { autonomous_system_number: 3333, autonomous_system_organization: 'RIPE NCC' } },
}
const NOTHING = { city: null, region: null, lat: null, lon: null, accuracyKm: null, timezone: null }

const folder = temporaryFolder()
afterAll(() => removeFolder(folder))

/** Timers whose callbacks the test calls. */
class OneTimer {
  readonly waiting: (() => void)[] = []
  readonly after = (_: number, callback: () => void): (() => void) => {
    this.waiting.push(callback)
    return () => this.waiting.splice(this.waiting.indexOf(callback), 1)
  }
}

let files = 0
function written(parts: MmdbParts | Buffer): string {
  files += 1
  mkdirSync(join(folder, String(files)))
  const path = join(folder, String(files), 'addresses.mmdb')
  writeFileSync(path, Buffer.isBuffer(parts) ? parts : mmdb(parts))
  return path
}

describe('databases of addresses in files', () => {
  let timers: OneTimer
  beforeEach(() => {
    timers = new OneTimer()
  })

  async function opened(cityDb: string | null, asnDb: string | null, fallback: string | null = null) {
    const databases = await FileGeoDatabases.open({ config: { cityDb, asnDb }, timers, fallback: () => fallback })
    if (!databases.ok) throw new Error(String(databases.fault.detail.reason))
    return databases.value
  }

  it('tell what a database of cities and one of systems hold, together', async () => {
    const geo = await opened(written(CITY), written(ASN))
    expect(geo.readiness()).toEqual({ available: true, engine: 'mmdb' })
    expect(geo.lookUp('193.0.6.139')).toEqual({
      country: 'DE',
      region: 'Hesse',
      city: 'Frankfurt am Main',
      lat: 50.1155,
      lon: 8.6842,
      accuracyKm: 20,
      timezone: 'Europe/Berlin',
      asn: 3333,
      isp: 'RIPE NCC',
      eu: true,
    })
    expect(geo.lookUp('193.0.9.1')).toMatchObject({ country: null, asn: 3333, isp: 'RIPE NCC', eu: null })
    expect(geo.lookUp('198.41.3.4')).toMatchObject({ city: 'Zürich', country: 'CH', eu: false, lat: -0.5, asn: null })
    expect(geo.lookUp('2001:7f8::1')).toMatchObject({ country: 'DE' })
    expect(geo.lookUp('8.8.8.8')).toBeNull()
    expect(geo.databases).toEqual([
      { type: 'GeoLite2-City', buildDate: '2026-11-18T11:06:40.000Z' },
      { type: 'asn ipvAll', buildDate: '2026-11-18T11:06:40.000Z' },
    ])
    expect(geo.attribution).toMatch(/^This product includes GeoLite2 data created by MaxMind.*; ip-location-db/)
  })

  it('read the flat layouts of ip-location-db and IPinfo', async () => {
    const flat = {
      country_code: 'fr',
      city: 'Lyon',
      state1: 'Rhône',
      latitude: '45.7',
      longitude: 4.8,
      timezone: 'Europe/Paris',
    }
    const geo = await opened(written({ type: 'city ipvAll', networks: { '193.0.0.0/16': flat } }), null)
    expect(geo.lookUp('193.0.6.1')).toMatchObject({
      country: 'FR',
      city: 'Lyon',
      region: 'Rhône',
      lat: 45.7,
      lon: 4.8,
      timezone: 'Europe/Paris',
      eu: true,
      asn: null,
    })
    const lite = { asn: 'AS15169', as_name: 'Google LLC', country: 'United States', country_code: 'US' }
    const info = await opened(null, written({ type: 'ipinfo generic_country_asn', networks: { '8.8.8.0/24': lite } }))
    expect(info.lookUp('8.8.8.8')).toMatchObject({ country: 'US', asn: 15169, isp: 'Google LLC', eu: false })
    expect(info.attribution).toBe('IP address data powered by IPinfo, https://ipinfo.io')
  })

  it('take nothing that is of the wrong type or out of range', async () => {
    const odd = {
      country: { iso_code: 'Germany', is_in_european_union: 'yes' },
      city: { names: { en: 7 } },
      location: { latitude: 91.5, longitude: 'east', accuracy_radius: 0, time_zone: '' },
      subdivisions: 'none',
      autonomous_system_number: 4_294_967_295,
      autonomous_system_organization: 'x'.repeat(280),
    }
    const geo = await opened(written({ type: 'odd', networks: { '8.8.8.0/24': odd } }), null)
    const found = geo.lookUp('8.8.8.8')
    expect(found).toEqual({ ...NOTHING, country: null, eu: null, asn: 4_294_967_295, isp: 'x'.repeat(100) })
    expect(geo.attribution).toBe('database "odd"')
    const nowhere = { type: 'odd', networks: { '8.8.8.0/24': { country_code: 'ZZ' } } }
    expect((await opened(written(nowhere), null)).lookUp('8.8.8.8')).toBeNull()
  })

  it('find nothing of an IPv6 address in a database of IPv4', async () => {
    const geo = await opened(
      written({ type: 'GeoLite2-Country', ipVersion: 4, networks: { '32.1.0.0/16': FRANKFURT } }),
      null,
    )
    expect(geo.lookUp('32.1.7.8')).toMatchObject({ country: 'DE' })
    expect(geo.lookUp('2001:7f8::1')).toBeNull()
  })

  it('are not there without a file, and one of systems alone will do', async () => {
    expect((await opened(null, null)).readiness()).toEqual({
      available: false,
      reason: 'a database of addresses is not configured',
      requires: ['geo.city-db', 'geo.asn-db'],
    })
    expect((await opened(null, written(ASN))).lookUp('193.0.1.1')).toMatchObject({ asn: 3333, country: null })
  })

  it('use the installed package where no file of cities is named, unless it cannot be used', async () => {
    const packaged = written({ type: 'country ipvAll', networks: { '8.8.8.0/24': { country_code: 'US' } } })
    expect((await opened(null, null, packaged)).lookUp('8.8.8.8')).toMatchObject({ country: 'US', city: null })
    expect((await opened(written(CITY), null, packaged)).lookUp('8.8.8.8')).toBeNull()
    expect((await opened(null, null, written(Buffer.from('no database')))).readiness().available).toBe(false)
  })

  it.each([
    ['a file that is not there', () => join(folder, 'nowhere.mmdb'), 'it cannot be read'],
    ['a folder', () => folder, 'it cannot be read'],
    ['an empty file', () => written(Buffer.alloc(0)), 'it is no MaxMind database'],
    ['text', () => written(Buffer.from('<html>not found</html>')), 'it is no MaxMind database'],
    ['the second half of a database', () => written(mmdb(CITY).subarray(3_000)), 'it is no MaxMind database'],
    ['the first half of a database', () => written(mmdb(CITY).subarray(0, 800)), 'it is no MaxMind database'],
  ])('say at the start that the setting names %s', async (_, path, reason) => {
    const databases = await FileGeoDatabases.open({
      config: { cityDb: path(), asnDb: null },
      timers,
      fallback: () => null,
    })
    expect(databases).toMatchObject({ ok: false, fault: { code: 'config/file' } })
    if (!databases.ok) expect(databases.fault.detail.reason).toContain(reason)
  })

  it('take a newer file while they run, and keep the old one where the newer is broken', async () => {
    const path = written(CITY)
    const geo = await opened(path, null)
    const look = async (): Promise<void> => {
      timers.waiting.shift()?.()
      await until('the next look', () => timers.waiting.length === 1)
    }
    const exchange = (bytes: Buffer): void => {
      writeFileSync(`${path}.new`, bytes)
      renameSync(`${path}.new`, path)
    }
    exchange(mmdb({ ...CITY, buildEpoch: 1_796_000_000, networks: { '193.0.6.0/24': ZURICH } }))
    expect(geo.lookUp('193.0.6.139')).toMatchObject({ city: 'Frankfurt am Main' })
    await look()
    expect(geo.lookUp('193.0.6.139')).toMatchObject({ city: 'Zürich' })
    expect(geo.databases).toEqual([{ type: 'GeoLite2-City', buildDate: '2026-11-30T00:53:20.000Z' }])

    exchange(Buffer.from('a download that failed'))
    await look()
    expect(geo.lookUp('193.0.6.139')).toMatchObject({ city: 'Zürich' })
    expect(geo.facts).toMatchObject([{ name: 'addresses.mmdb', usable: true }])
    expect(geo.facts[0]?.trouble).toContain('it is no MaxMind database')
    expect(await geo.checkAll()).toMatchObject([{ ok: false }])

    exchange(mmdb(CITY))
    await look()
    expect(geo.lookUp('193.0.6.139')).toMatchObject({ city: 'Frankfurt am Main' })
    expect(await geo.checkAll()).toMatchObject([{ ok: true, detail: 'GeoLite2-City of 2026-11-18' }])
    geo.stop()
    expect(timers.waiting).toEqual([])
  })
})
