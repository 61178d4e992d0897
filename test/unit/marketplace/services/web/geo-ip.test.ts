import { beforeAll, describe, expect, it } from 'vitest'
import { type GeoDatabases, type GeoFacts, NO_GEO_FACTS } from '../../../../../marketplace/ports/geo.ts'
import { notConfigured } from '../../../../../marketplace/ports/readiness.ts'
import type { ServiceContext } from '../../../../../marketplace/services/context.ts'
import { outsideOf } from '../../../../support/outside.ts'
import { emptyServiceChain } from '../../../../support/service-chain.ts'
import { ask, resultOf } from '../../../../support/service-results.ts'

const ID = 'node-geo-ip'
const KNOWN: Readonly<Record<string, GeoFacts>> = {
  '8.8.8.8': { ...NO_GEO_FACTS, country: 'US', eu: false },
  '2001:7f8::1': {
    ...NO_GEO_FACTS,
    country: 'DE',
    city: 'Frankfurt',
    lat: 50.1,
    lon: 8.6,
    asn: 6695,
    isp: 'DE-CIX',
    eu: true,
  },
  '9.9.9.9': { ...NO_GEO_FACTS, asn: 19281, isp: 'Quad9' },
  '1.2.3.4': { ...NO_GEO_FACTS, country: 'QX', eu: false },
}
const asked: string[] = []
const GEO: GeoDatabases = {
  readiness: () => ({ available: true, engine: 'mmdb' }),
  databases: [{ type: 'GeoLite2-City', buildDate: '2026-11-17T09:12:44.000Z' }],
  attribution: 'words of a licence',
  lookUp: (ip) => {
    asked.push(ip)
    return KNOWN[ip] ?? null
  },
}

let context: ServiceContext
beforeAll(async () => {
  context = { ...(await emptyServiceChain()).context, outside: outsideOf({ geo: GEO }) }
})

async function of(request: string): Promise<Record<string, unknown>> {
  return resultOf(ID, request, context)
}

describe('node-geo-ip', () => {
  it('tells what the databases hold, and names what they do not', async () => {
    expect(await of(' 8.8.8.8\n')).toMatchObject({
      service: ID,
      engine: 'mmdb',
      ip: '8.8.8.8',
      version: 4,
      reserved: false,
      country: 'US',
      countryName: 'United States',
      eu: false,
      city: null,
      databases: [{ type: 'GeoLite2-City', buildDate: '2026-11-17T09:12:44.000Z' }],
      attribution: 'words of a licence',
      unknown: ['region', 'city', 'lat', 'lon', 'accuracyKm', 'timezone', 'asn', 'isp'],
    })
    expect(await of('9.9.9.9')).toMatchObject({ country: null, countryName: null, asn: 19281, isp: 'Quad9' })
    expect(await of('1.2.3.4')).toMatchObject({ country: 'QX', countryName: null })
  })

  it('looks up any spelling of an IPv6 address as one, and IPv4 within IPv6 as IPv4', async () => {
    for (const spelling of ['2001:7f8::1', '2001:07F8:0:0::0001', '2001:7f8:0:0:0:0:0:1'])
      expect(await of(spelling)).toMatchObject({
        ip: '2001:7f8::1',
        version: 6,
        city: 'Frankfurt',
        asn: 6695,
        eu: true,
      })
    for (const spelling of ['::ffff:8.8.8.8', '::ffff:808:808'])
      expect(await of(spelling)).toMatchObject({ ip: '8.8.8.8', version: 4, country: 'US' })
  })

  it.each([
    ['127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['::ffff:192.168.1.1', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['224.0.0.1', 'multicast'],
    ['::1', 'loopback'],
    ['fd00::1', 'uniqueLocal'],
    ['2001:db8::1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['0.0.0.0', 'unspecified'],
  ])('tells of %s that it is set aside, and looks nothing up', async (ip, range) => {
    asked.length = 0
    expect(await of(ip)).toMatchObject({ reserved: true, range, country: null })
    expect(asked).toEqual([])
  })

  it.each([
    '',
    'localhost',
    '8.8.8',
    '8.8.8.8.8',
    '256.1.1.1',
    '0x7f.1',
    '2130706433',
    '08.8.8.8',
    '::1%eth0',
    '8.8.8.8/24',
    '[::1]',
    ':::',
    '8.8.8.8 9.9.9.9',
  ])('refuses %j before it is paid', async (request) => {
    expect(await ask(ID, request, context)).toEqual({ request, refused: 'not an IPv4 or IPv6 address' })
  })

  it('sells nothing of an address that no database knows', async () => {
    expect(await ask(ID, '4.4.4.4', context)).toMatchObject({ refused: 'no database of this node knows 4.4.4.4' })
  })

  it('is unavailable without a database, and says which settings would change that', async () => {
    const readiness = notConfigured('a database of addresses', 'geo.city-db', 'geo.asn-db')
    const without = { ...context, outside: outsideOf({ geo: { ...GEO, readiness: () => readiness } }) }
    expect(await ask(ID, '8.8.8.8', without)).toMatchObject({
      unavailable: 'a database of addresses is not configured',
    })
  })
})
