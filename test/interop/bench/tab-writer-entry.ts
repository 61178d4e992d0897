import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { systemClock, systemTimers } from '../../../src/daemon/runtime.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { PostgresDatabase } from '../../../src/storage/postgres-database.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { callRowText } from '../../../src/storage/tab-json.ts'
import { AGAIN, closeMarkets } from '../../support/market.ts'
import { reserved, units } from '../../support/tab-calls.ts'
import { closeTabShops, TabShop, type TestTab } from '../../support/tabs.ts'

/**
 * One of several processes that write to one database until their standard input ends: paid calls on tabs (`calls`), or
 * bare rows of the same length in groups of a given size (`rows`). Begins with the first byte of its input, and prints what it did as JSON.
 */
const [what, url = '', name = '', atOnce = '', tabs = ''] = process.argv.slice(2)
const RESULT = JSON.stringify({ echo: 'x'.repeat(200) })
/** At a hundredth of a cent, all calls together stay below what may be risked on deposits of this depth. */
const PRICE_MICROS = 100n
const DEPTH = 6
/** More calls than can be under way. */
const AHEAD = 1_000
const place = postgresPlace(url)
if (!place.ok) throw new Error(place.fault.code)
const options = { place: place.value, network: 'bench', home: name, leaseMs: 30_000, timers: systemTimers }
const claims = await PostgresClaims.open(options)
const store = claims.tabs()
let isStopped = false
process.stdin.once('end', () => {
  isStopped = true
})
let startedMs = 0
const done = what === 'calls' ? await callsUntilStopped() : await rowsUntilStopped(Number(atOnce))
const seconds = (performance.now() - startedMs) / 1_000
await store.close()
process.stdout.write(JSON.stringify({ ...done, seconds }))

/**
 * Each of several callers makes one paid call after the other, on a tab that callers of the other process use too. Both processes have
 * chains of their own with the same tabs, since an opening is made of the same bytes.
 */
async function callsUntilStopped() {
  let groups = 0
  const { commit } = store
  const counted = Object.assign(store, {
    commit: (...parts: Parameters<typeof commit>) => {
      groups += 1
      return commit.apply(store, parts)
    },
  })
  const shop = await TabShop.open({
    prices: { [AGAIN]: PRICE_MICROS },
    rail: { clock: systemClock, timers: systemTimers },
  })
  const opened = await openTabs(shop)
  const rail = shop.railOver(counted)
  const price = shop.market.priceOf(AGAIN)
  const times: number[] = []
  const next = new Map<TestTab, number>()
  await begin()
  const caller = async (number: number): Promise<void> => {
    const tab = opened[number % opened.length] as TestTab
    while (!isStopped) {
      const seq = next.get(tab) ?? (name === 'a' ? 1 : 2)
      next.set(tab, seq + 2)
      // Every second number is the other process's. It is never far behind: the window of numbers moves only with both.
      const call = shop.order(tab, `ok:${seq}`, { seq, ceiling: price * BigInt(seq + AHEAD) })
      const beganMs = performance.now()
      while (!(await settled(rail.till.settle(call)))) {
        if (isStopped) return
        await setTimeout(1)
      }
      times.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: Number(atOnce) }, (_, i) => caller(i)))
  await closeTabShops()
  await closeMarkets()
  return { count: times.length, groups, times }
}

/** Says that it is ready, and waits until all processes may begin. */
async function begin(): Promise<void> {
  process.stdout.write('ready\n')
  await once(process.stdin, 'data')
  startedMs = performance.now()
}

/** False if the number is still too far above the lowest unused one. */
async function settled(answer: ReturnType<TabShop['till']['settle']>): Promise<boolean> {
  const outcome = await answer
  if (outcome.ok) return true
  if (outcome.fault.code === 'tabcall/seq-window') return false
  throw new Error(JSON.stringify(outcome.fault))
}

async function openTabs(shop: TabShop): Promise<readonly TestTab[]> {
  const opened: TestTab[] = []
  for (let i = 0; i < Number(tabs); i++) {
    const seed = new Uint8Array(32).fill(i + 1)
    const voucherKey = toHex(NATIVE_BACKEND.publicKeyEd25519(seed)) as Hash
    opened.push({ ...(await shop.opening({ deposit: units(1_000_000_000), voucherKey })), seed })
  }
  await shop.market.mine(opened.map(({ opening }) => opening))
  for (let i = 1; i < DEPTH; i++) await shop.market.mine()
  return opened
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
  await begin()
  while (!isStopped) {
    const beganMs = performance.now()
    await database.query(sql, values, 'bare')
    times.push(performance.now() - beganMs)
  }
  await database.close()
  return { count: times.length * size, groups: times.length, times }
}
