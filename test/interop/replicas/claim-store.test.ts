import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Timers } from '../../../consensus/chain/ports.ts'
import { NATIVE_CLAIMS } from '../../../marketplace/checkout/claim.ts'
import type { ClaimKind, StoredClaim } from '../../../marketplace/checkout/claim-store.ts'
import { systemTimers } from '../../../src/runtime.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { PostgresDatabase } from '../../../src/storage/postgres-database.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { claimStoreSuite } from '../../contract/claim-store.suite.ts'
import { sharedClaimStoreSuite } from '../../contract/shared-claim-store.suite.ts'
import { PostgresServer } from './postgres.ts'

/** Short, so that the dead are missed soon; long enough for a busy machine to show that it lives. */
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

/** Timers that can stand still. */
class StoppableTimers implements Timers {
  #waiting: (() => void)[] = []
  #stopped = false

  after(ms: number, callback: () => void): () => void {
    return systemTimers.after(ms, () => {
      if (this.#stopped) this.#waiting.push(callback)
      else callback()
    })
  }

  stop(): void {
    this.#stopped = true
  }

  go(): void {
    this.#stopped = false
    for (const callback of this.#waiting.splice(0)) callback()
  }
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
    ['{"result":null}'],
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
