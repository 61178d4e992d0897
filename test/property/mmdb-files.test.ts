import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { FileGeoDatabases } from '../../src/geo/geo-databases.ts'
import { mmdb } from '../support/mmdb.ts'
import { removeFolder, temporaryFolder } from '../support/processes.ts'

const WELL = mmdb({
  type: 'GeoLite2-City',
  networks: {
    '8.8.8.0/24': {
      city: { names: { en: 'Mountain View' } },
      country: { iso_code: 'US' },
      location: { latitude: 37.4, longitude: -122.1 },
      subdivisions: [{ names: { en: 'California' } }],
    },
    '2001:7f8::/32': { country: { iso_code: 'DE' } },
  },
})
/** Offset of data and metadata. Damage before it makes the tree point into them or beyond the file. */
const DATA_FROM = WELL.length - 420
const FACTS = ['country', 'region', 'city', 'lat', 'lon', 'accuracyKm', 'timezone', 'asn', 'isp', 'eu']

const folder = temporaryFolder()
afterAll(() => removeFolder(folder))

const DAMAGE = fc.array(
  fc.tuple(fc.oneof(fc.nat(WELL.length - 1), fc.integer({ min: DATA_FROM, max: WELL.length - 1 })), fc.nat(255)),
  { minLength: 1, maxLength: 4 },
)

test('a damaged database is refused, or tells facts of the promised types', async () => {
  const cityDb = join(folder, 'damaged.mmdb')
  const timers = { after: () => () => {} }
  const seen = { refused: 0, opened: 0 }
  const one = async (damage: readonly (readonly [number, number])[]): Promise<void> => {
    const bytes = Buffer.from(WELL)
    for (const [at, byte] of damage) bytes[at] = byte
    writeFileSync(cityDb, bytes)
    const opened = await FileGeoDatabases.open({ config: { cityDb, asnDb: null }, timers, fallback: () => null })
    seen[opened.ok ? 'opened' : 'refused'] += 1
    if (!opened.ok) {
      expect(opened.fault.code).toBe('config/file')
      return
    }
    for (const ip of ['8.8.8.8', '2001:7f8::1', '1.2.3.4', '203.0.114.9']) {
      const found = opened.value.lookUp(ip)
      if (found !== null) expect(Object.keys(found).sort()).toEqual([...FACTS].sort())
      for (const number of [found?.lat, found?.lon]) expect(Math.abs(number ?? 0)).toBeLessThanOrEqual(180)
    }
    expect(opened.value.databases).toHaveLength(1)
  }
  await fc.assert(fc.asyncProperty(DAMAGE, one), { numRuns: 500 })
  expect(Math.min(seen.refused, seen.opened)).toBeGreaterThan(0)
})
