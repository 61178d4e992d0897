import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../../../config/load.ts'
import { postgresPlace } from '../../../../src/storage/postgres-place.ts'

const SECRET = 'p%40ss-of-nobody'

function placeOf(text: string) {
  const place = postgresPlace(text)
  if (!place.ok) throw new Error(JSON.stringify(place.fault))
  return place.value
}

describe('the URL of a claim store', () => {
  it('is read in all its parts, and its name holds no password', () => {
    const url = `postgres://farthing:${SECRET}@db.internal:6432/claims?schema=shop_1&sslmode=verify-full`
    expect(placeOf(url)).toEqual({
      schema: 'shop_1',
      name: 'db.internal:6432/claims',
      connection: {
        ...{ host: 'db.internal', port: 6432, user: 'farthing', password: 'p@ss-of-nobody', database: 'claims' },
        ssl: true,
      },
    })
  })

  it('leaves to the environment what it does not say', () => {
    expect(placeOf('postgresql://db.internal')).toEqual({
      schema: 'farthing',
      name: 'db.internal/',
      connection: { host: 'db.internal' },
    })
    expect(placeOf('postgres://farthing@localhost/claims?host=/var/run/postgresql').connection).toEqual({
      ...{ host: '/var/run/postgresql', user: 'farthing', database: 'claims' },
    })
  })

  it.each([
    'mysql://db.internal/claims',
    'db.internal',
    `postgres://farthing:${SECRET}@db.internal/claims?options=-c%20synchronous_commit%3Doff`,
    `postgres://farthing:${SECRET}@db.internal/claims?schema=a;drop`,
    `postgres://farthing:${SECRET}@db.internal/claims?sslmode=perhaps`,
    `postgres://farthing:${SECRET}@db.internal/claims?sslrootcert=/nowhere/at/all.pem`,
    `postgres://farthing:%zz${SECRET}@db.internal/claims`,
  ])('is refused without a word of its password: %s', (text) => {
    const place = postgresPlace(text)
    expect(place).toMatchObject({ ok: false, fault: { code: 'market/claims-unusable' } })
    expect(JSON.stringify(place)).not.toContain('ss-of-nobody')
  })

  it('is not shown where its setting is refused', () => {
    const values = { 'market.claims-url': `mysql://farthing:${SECRET}@db.internal/claims` }
    const resolved = resolveConfig([{ origin: 'flag', values, callsIt: (name) => name }], '/home/somebody')
    expect(resolved).toMatchObject({ ok: false, fault: { code: 'config/value', detail: { value: '(hidden)' } } })
  })
})
