import { afterAll, beforeAll } from 'vitest'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { tabStoreSuite } from '../../contract/tab-store.suite.ts'
import { PostgresServer } from './postgres.ts'

let server: PostgresServer
let places = 0
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

/** A new schema in the server. */
const newPlace = () => {
  const place = postgresPlace(server.url(`tabs_${places++}`))
  if (!place.ok) throw new Error(place.fault.code)
  return place.value
}

tabStoreSuite('of several replicas in PostgreSQL', () => {
  const place = newPlace()
  const options = { place, network: 'test', home: 'a', leaseMs: 30_000, timers: systemTimers }
  return {
    open: async () => (await PostgresClaims.open(options)).tabs(),
    remove: async () => {},
  }
})
