import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Workshop } from '../../support/daemon.ts'
import { OlderFolder } from '../../support/older-folder.ts'
import { ROOT } from '../../support/source-tree.ts'
import { PostgresServer } from './postgres.ts'

const workshop = new Workshop()
let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
  const client = new pg.Client({ connectionString: server.url() })
  await client.connect()
  await client.query(readFileSync(join(ROOT, 'test/fixtures/upgrade/postgres.sql'), 'utf8'))
  await client.end()
})
afterAll(() => server.remove())

it('a replica goes on over the folder and the PostgreSQL rows of an older release that was killed at work', async () => {
  const older = await OlderFolder.start(workshop, 'postgres', { FARTHING_MARKET_CLAIMS_URL: server.url() })
  await older.expectKeys(workshop)
  await older.expectNativeCallsEnd()
  await older.expectDollarCallsEnd()
  older.expectRuns()
  expect((await older.daemon.stop()).code).toBe(0)
})
