import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import {
  type ClaimKind,
  type ClaimPage,
  PASSED_OVER_MAX,
  type StoredClaim,
} from '../../../marketplace/till/claim-store.ts'
import { DOLLAR_CLAIMS } from '../../../marketplace/till/rails/dollar/claim.ts'
import { type Claim, NATIVE_CLAIMS } from '../../../marketplace/till/rails/native/claim.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { PostgresDatabase } from '../../../src/storage/postgres-database.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { claimStoreSuite } from '../../contract/claim-store.suite.ts'
import { sharedClaimStoreSuite } from '../../contract/shared-claim-store.suite.ts'
import { claimed, delivered, dollarClaims, txIdOf } from '../../support/claims.ts'
import { until } from '../../support/processes.ts'
import { makeOlder } from './older-tables.ts'
import { PostgresServer } from './postgres.ts'
import { StoppableTimers } from './stoppable-timers.ts'

/** Short, so that a dead replica is noticed soon; long enough for a busy machine to renew it. */
const LEASE_MS = 2_000

let server: PostgresServer
let places = 0
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

/** A new schema in the server. */
const newPlace = () => {
  const place = postgresPlace(server.url(`place_${places++}`))
  if (!place.ok) throw new Error(place.fault.code)
  return place.value
}

claimStoreSuite('of several replicas in PostgreSQL', () => {
  const place = newPlace()
  let claims: Promise<PostgresClaims> | undefined
  let openCount = 0
  return {
    open: async <C extends StoredClaim>(kind: ClaimKind<C>) => {
      claims ??= PostgresClaims.open({ place, network: 'test', home: 'a', leaseMs: 30_000, timers: systemTimers })
      const store = (await claims).store(kind)
      openCount += 1
      const close = store.close.bind(store)
      store.close = async () => {
        openCount -= 1
        if (openCount === 0) claims = undefined
        await close()
      }
      return store
    },
    remove: async () => {},
  }
})

sharedClaimStoreSuite('in PostgreSQL', async () => {
  const place = newPlace()
  return {
    replica: (home) => {
      const timers = new StoppableTimers()
      let claims: Promise<PostgresClaims> | undefined
      return {
        open: async <C extends StoredClaim>(kind: ClaimKind<C>) => {
          claims ??= PostgresClaims.open({ place, network: 'test', home, leaseMs: LEASE_MS, timers })
          return (await claims).store(kind)
        },
        pause: () => timers.stop(),
        wake: () => timers.go(),
      }
    },
    remove: async () => {},
  }
})

it('forgets more results than one statement does: those that are too old, then the oldest beyond the bytes', async () => {
  const place = newPlace()
  const claims = await PostgresClaims.open({ place, network: 'test', home: 'a', leaseMs: 30_000, timers: systemTimers })
  const store = claims.store(NATIVE_CLAIMS)
  const database = await PostgresDatabase.open(place, 1)
  const { schema } = place
  const rows = `SELECT 'native', lpad(i::text, 64, '0'), %, $1 FROM generate_series(1, 25000) i`
  await database.query(
    `INSERT INTO ${schema}.claims (kind, id, state, claimed_at, body) ${rows.replace('%', "'failed', i")}`,
    [JSON.stringify(delivered(1, { result: null }))],
  )
  await database.query(
    `INSERT INTO ${schema}.results (kind, id, finished_at, bytes, result) ${rows.replace('%', 'i, 10')}`,
    ['x'.repeat(10)],
  )
  expect(await store.pruneResults(12_001, 250_000)).toBe(12_000)
  expect(await store.pruneResults(12_001, 10_005)).toBe(12_000)
  const left = await database.query<{ least: string }>(`SELECT min(finished_at) AS least FROM ${schema}.results`)
  expect(left).toEqual([{ least: '24001' }])
  expect(await store.pruneResults(0, 0)).toBe(1_000)
  await database.close()
  await store.close()
})

it('knows payers, prices and deliveries of results that tables of an older release keep', async () => {
  const place = newPlace()
  const { schema } = place
  const open = () => PostgresClaims.open({ place, network: 'test', home: 'a', leaseMs: 30_000, timers: systemTimers })
  let claims = await open()
  let [store, dollars] = [claims.store(NATIVE_CLAIMS), claims.store(DOLLAR_CLAIMS)]
  const callers = ['modest', ...Array.from({ length: 39 }, () => 'greedy')]
  for (const [i, caller] of callers.entries()) {
    await store.claim(claimed(i))
    await store.advance('claimed', { ...delivered(i, { finishedAtMs: i }), caller })
  }
  const { claimed: first, settled, settling, unpaid } = dollarClaims(0)
  const stable = [settled, { ...settled, deliveredAtMs: 12 }, { ...settling, ...unpaid, request: 'ok \u0000' }]
  for (const [i, claim] of stable.entries()) {
    await dollars.claim({ ...first, id: txIdOf(i) })
    await dollars.advance('claimed', { ...claim, id: txIdOf(i) })
  }
  await store.close()
  await dollars.close()
  const database = await PostgresDatabase.open(place, 1)
  await makeOlder(database, 2)
  claims = await open()
  ;[store, dollars] = [claims.store(NATIVE_CLAIMS), claims.store(DOLLAR_CLAIMS)]
  const left = async (kind: string): Promise<readonly string[]> => {
    const rows = await database.query<{ id: string }>(`SELECT id FROM ${schema}.results WHERE kind = $1 ORDER BY id`, [
      kind,
    ])
    return rows.map(({ id }) => id)
  }
  const bytes = Buffer.byteLength((delivered(0) as { result: string }).result)
  expect(await store.pruneResults(0, 38 * bytes)).toBe(2)
  expect((await left('native')).slice(0, 2)).toEqual([0, 3].map(txIdOf))
  // Results of unpaid calls go first, then those of delivered ones.
  expect(await dollars.pruneResults(0, 2 * Buffer.byteLength(settled.result))).toBe(1)
  expect(await left('stable')).toEqual([0, 1].map(txIdOf))
  expect(await dollars.pruneResults(0, Buffer.byteLength(settled.result))).toBe(1)
  expect(await left('stable')).toEqual([txIdOf(0)])
  await database.close()
  await store.close()
  await dollars.close()
})

it('brings tables up to date while a replica of an older release writes a claim and its result', async () => {
  const place = newPlace()
  const { schema } = place
  const open = () => PostgresClaims.open({ place, network: 'test', home: 'a', leaseMs: 30_000, timers: systemTimers })
  let store = (await open()).store(NATIVE_CLAIMS)
  await store.claim(claimed(0))
  await store.advance('claimed', delivered(0))
  await store.close()
  const [older, observer] = [await PostgresDatabase.open(place, 1), await PostgresDatabase.open(place, 1)]
  await makeOlder(older, 2)
  const isWaitedFor = async (): Promise<boolean> =>
    (await observer.query('SELECT 1 AS one FROM pg_locks WHERE NOT granted')).length > 0
  const opening = await older.transaction(async (query) => {
    await query(`UPDATE ${schema}.claims SET state = state`)
    const migrating = open()
    migrating.catch(() => {})
    await until('the migration waits', isWaitedFor)
    await query(`UPDATE ${schema}.results SET bytes = bytes`)
    return { migrating }
  })
  store = (await opening.migrating).store(NATIVE_CLAIMS)
  expect(await store.get(txIdOf(0))).toMatchObject({ state: 'delivered' })
  for (const one of [older, observer, store]) await one.close()
})

it('lists the calls of one service from tables of an older release, which did not note it, a page of all at a time', async () => {
  const place = newPlace()
  const { schema } = place
  const open = () => PostgresClaims.open({ place, network: 'test', home: 'a', leaseMs: 30_000, timers: systemTimers })
  const rare = 'node-rare' as ServiceId
  const of = (i: number) => ({ ...claimed(i), ...(i % 10 === 3 && { serviceId: rare }) })
  let store = (await open()).store(NATIVE_CLAIMS)
  for (let i = 0; i < 40; i++) await store.claim(of(i))
  await store.close()
  const database = await PostgresDatabase.open(place, 1)
  await makeOlder(database, 3)
  store = (await open()).store(NATIVE_CLAIMS)
  const pages: (readonly number[])[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: ClaimPage<Claim> = await store.recent(10, cursor ?? null, rare)
    pages.push(page.claims.map(({ claimedAtMs }) => claimedAtMs))
    cursor = page.nextCursor
  }
  expect(pages).toEqual([[33], [23], [13], [3]])
  expect(await store.advance('claimed', { ...of(33), state: 'executing', startedAtMs: 5 })).toBe(true)
  const noted = await database.query(`SELECT id FROM ${schema}.claims WHERE service = $1`, [rare])
  expect(noted).toEqual([{ id: txIdOf(33) }])
  await database.close()
  await store.close()
})

it('ends a page of one service early behind very many claims of others', async () => {
  const place = newPlace()
  const claims = await PostgresClaims.open({ place, network: 'test', home: 'a', leaseMs: 30_000, timers: systemTimers })
  const store = claims.store(NATIVE_CLAIMS)
  const database = await PostgresDatabase.open(place, 1)
  const { serviceId } = claimed(0)
  const body = `replace($1, '${txIdOf(0)}', lpad(i::text, 64, '0'))`
  await database.query(
    `INSERT INTO ${place.schema}.claims (kind, id, state, claimed_at, body, service)
      SELECT 'native', lpad(i::text, 64, '0'), 'claimed', i, ${body}, $2 FROM generate_series(1, ${PASSED_OVER_MAX + 1}) i`,
    [JSON.stringify(claimed(0)), serviceId],
  )
  const first = await store.recent(10, null, 'node-none')
  const cursor = `${'2'.padStart(15, '0')}/${'2'.padStart(64, '0')}`
  expect(first).toEqual({ claims: [], nextCursor: cursor })
  expect(await store.recent(10, cursor, 'node-none')).toEqual({ claims: [], nextCursor: null })
  expect((await store.recent(10, null, serviceId)).claims.length).toBe(10)
  await database.close()
  await store.close()
})
