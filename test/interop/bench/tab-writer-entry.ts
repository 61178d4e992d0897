import { setTimeout } from 'node:timers/promises'
import { CommitGroups } from '../../../marketplace/till/rails/tab/commit-groups.ts'
import type { EndedTabCall, SealCall } from '../../../marketplace/till/rails/tab/tab-store.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { PostgresDatabase } from '../../../src/storage/postgres-database.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { callRowText } from '../../../src/storage/tab-json.ts'
import { begun, delivering, reserved, sealed, upTo } from '../../support/tab-calls.ts'

/**
 * One of several processes that write to one database until their standard input ends: paid calls on tabs (`calls`), or
 * bare rows of the same length in groups of a given size (`rows`). Prints what it did as JSON.
 */
const [what, url = '', name = '', atOnce = '', tabs = ''] = process.argv.slice(2)
const RESULT = JSON.stringify({ echo: 'x'.repeat(200) })
const PLENTY = upTo(1_000_000_000)
const place = postgresPlace(url)
if (!place.ok) throw new Error(place.fault.code)
const options = { place: place.value, network: 'bench', home: name, leaseMs: 30_000, timers: systemTimers }
const claims = await PostgresClaims.open(options)
const store = claims.tabs()
let isStopped = false
process.stdin.once('end', () => {
  isStopped = true
})
process.stdin.resume()
const startedMs = performance.now()
const done = what === 'calls' ? await callsUntilStopped() : await rowsUntilStopped(Number(atOnce))
const seconds = (performance.now() - startedMs) / 1_000
await store.close()
process.stdout.write(JSON.stringify({ ...done, seconds }))

/** Each of several callers makes one call after the other, in the steps of a paid call, on a tab that others use too. */
async function callsUntilStopped() {
  let groups = 0
  const commit = (ended: readonly EndedTabCall[], seal: SealCall) => {
    groups += 1
    return store.commit(ended, seal)
  }
  const writer = new CommitGroups({
    store: { commit },
    seal: sealed,
    clock: Date,
    timers: systemTimers,
    isAbandoned: () => isStopped,
  })
  const times: number[] = []
  const next = new Map<number, number>()
  const caller = async (number: number): Promise<void> => {
    const tab = 1 + (number % Number(tabs))
    while (!isStopped) {
      const seq = next.get(tab) ?? (name === 'a' ? 1 : 2)
      next.set(tab, seq + 2)
      const call = reserved(seq, { tab, ceiling: 1_000_000_000 })
      const beganMs = performance.now()
      await store.call(call.tabId, seq)
      // The other process can be so far behind that its next number is below the window.
      while ((await store.reserve(call, PLENTY)).is !== 'held') await setTimeout(1)
      await store.begin(begun(call))
      await writer.add(delivering(begun(call), { result: RESULT, finishedAtMs: Date.now() }))
      times.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: Number(atOnce) }, (_, i) => caller(i)))
  return { count: times.length, groups, times }
}

/** One durable transaction after the other. */
async function rowsUntilStopped(size: number) {
  const database = await PostgresDatabase.open(options.place, 1)
  const { schema } = database
  await database.query(
    `CREATE TABLE IF NOT EXISTS ${schema}.bare_${name} (id bigserial PRIMARY KEY, body text, result text)`,
  )
  const body = callRowText(reserved(1))
  const sql = `INSERT INTO ${schema}.bare_${name} (body, result) SELECT * FROM unnest($1::text[], $2::text[])`
  const values = [Array(size).fill(body), Array(size).fill(RESULT)]
  const times: number[] = []
  while (!isStopped) {
    const beganMs = performance.now()
    await database.query(sql, values, 'bare')
    times.push(performance.now() - beganMs)
  }
  await database.close()
  return { count: times.length * size, groups: times.length, times }
}
