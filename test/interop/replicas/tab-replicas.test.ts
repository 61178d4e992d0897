import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ZERO } from '../../../consensus/primitives/amount.ts'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import { ClaimsAway } from '../../../marketplace/till/claim-store.ts'
import { CommitGroups } from '../../../marketplace/till/rails/tab/commit-groups.ts'
import { callIdOf, type ReservedTabCall, type TabStore } from '../../../marketplace/till/rails/tab/tab-store.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { PostgresDatabase } from '../../../src/storage/postgres-database.ts'
import { type PostgresPlace, postgresPlace } from '../../../src/storage/postgres-place.ts'
import type { PostgresTabStore } from '../../../src/storage/postgres-tabs.ts'
import { Program, until } from '../../support/processes.ts'
import { begun, delivering, failing, reserved, sealed, tabIdOf, units, upTo } from '../../support/tab-calls.ts'
import { makeOlder } from './older-tables.ts'
import { PostgresServer } from './postgres.ts'
import { StoppableTimers } from './stoppable-timers.ts'

/** Short, so that a dead replica is noticed soon; long enough for a busy machine to renew it. */
const LEASE_MS = 2_000
const TABS = [1, 2, 3, 4, 5, 6, 7, 8]
const PLENTY = upTo(1_000_000)

interface Replica {
  readonly claims: PostgresClaims
  readonly store: PostgresTabStore
  readonly timers: StoppableTimers
}

function groupsOf(store: TabStore): CommitGroups {
  return new CommitGroups({ store, seal: sealed, clock: Date, timers: systemTimers, isAbandoned: () => false })
}

/** Fails unless receipts have no holes, add up, and are all that was charged. */
async function audit(store: TabStore, tab: number): Promise<readonly number[]> {
  const receipts = (await store.receiptsFrom(tabIdOf(tab), 1, 100_000)).map(({ receipt }) => receipt)
  let sum = 0n
  for (const [i, { n, charged, cumulative }] of receipts.entries()) {
    sum += charged
    expect({ n, cumulative }).toEqual({ n: i + 1, cumulative: sum })
  }
  const row = await store.tab(tabIdOf(tab))
  expect(row).toMatchObject({ charged: sum, receipts: receipts.length, reserved: ZERO })
  expect(sum <= (row?.voucher?.ceiling ?? 0n)).toBe(true)
  const seqs = receipts.map(({ seq }) => seq)
  expect(new Set(seqs).size).toBe(seqs.length)
  return seqs.sort((a, b) => a - b)
}

describe('the tabs of several replicas', () => {
  let server: PostgresServer
  let place: PostgresPlace
  let url: string
  let places = 0
  const opened = new Set<PostgresTabStore>()
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.remove())
  beforeEach(() => {
    url = server.url(`replicas_${places++}`)
    const read = postgresPlace(url)
    if (!read.ok) throw new Error(read.fault.code)
    place = read.value
  })
  afterEach(async () => {
    for (const store of opened) await store.close()
    opened.clear()
    expect(server.log).not.toContain('deadlock')
  })
  const start = async (home: string, leaseMs = LEASE_MS): Promise<Replica> => {
    const timers = new StoppableTimers()
    const claims = await PostgresClaims.open({ place, network: 'test', home, leaseMs, timers })
    const store = claims.tabs()
    opened.add(store)
    return { claims, store, timers }
  }
  const hold = async (store: TabStore, call: ReservedTabCall): Promise<ReservedTabCall> => {
    expect(await store.reserve(call, PLENTY)).toEqual({ is: 'held' })
    return call
  }
  it('never hold more than a ceiling between them: a thousand calls at once on eight tabs', async () => {
    const [a, b] = [await start('a'), await start('b')]
    const calls = TABS.flatMap((tab) => Array.from({ length: 125 }, (_, i) => reserved(i + 1, { tab, ceiling: 605 })))
    const answers = await Promise.all(
      calls.map((call, i) => (i % 2 === 0 ? a : b).store.reserve(call, call.tabId === tabIdOf(8) ? upTo(409) : PLENTY)),
    )
    for (const tab of TABS) {
      const held = calls.filter((call, i) => call.tabId === tabIdOf(tab) && answers[i]?.is === 'held').length
      expect(held).toBe(tab === 8 ? 40 : 60)
      expect((await a.store.tab(tabIdOf(tab)))?.reserved).toBe(units(held * 10))
    }
  })

  it('give one call one answer, number receipts without holes, and never wait for each other for ever', async () => {
    const replicas = [await start('a'), await start('b')]
    const groups = replicas.map(({ store }) => groupsOf(store))
    const answers = new Map<string, Set<string>>()
    /** Takes a call to its end at one replica, or waits for the end that another one writes. */
    const pay = async (at: number, call: ReservedTabCall, i: number): Promise<void> => {
      const { store } = replicas[at] as Replica
      const { tabId, seq } = call
      const { is } = await store.reserve(call, PLENTY)
      expect(is).not.toBe('refused')
      if (is === 'held') {
        expect(await store.begin(begun(call))).toBe(true)
        const end = i % 7 === 0 ? failing(begun(call)) : delivering(begun(call), { charge: i % 11, result: `"${i}"` })
        expect(await groups[at]?.add(end)).toMatchObject({ tabId, seq })
      }
      const answer = await until('an answer', async () => {
        const known = await store.call(tabId, seq)
        return known?.state === 'delivered' || known?.state === 'failed' ? known.receipt.signature : undefined
      })
      const id = callIdOf(call)
      answers.set(id, (answers.get(id) ?? new Set()).add(answer))
    }
    const calls = TABS.flatMap((tab) => Array.from({ length: 60 }, (_, i) => ({ tab, seq: i + 1 })))
    const work = calls.flatMap(({ tab, seq }, i) => {
      const call = { ...reserved(seq, { tab, isRepeatable: i % 3 !== 0 }), request: `call ${i}` }
      // Every fifth call is sent to both replicas.
      return i % 5 === 0 ? [pay(0, call, i), pay(1, call, i)] : [pay(i % 2, call, i)]
    })
    await Promise.all(work)
    expect(answers.size).toBe(calls.length)
    for (const given of answers.values()) expect(given.size).toBe(1)
    for (const tab of TABS)
      expect(await audit(replicas[0]?.store as TabStore, tab)).toEqual(calls.slice(0, 60).map(({ seq }) => seq))
  })

  it('tell each other at once what a payer asked for', async () => {
    const [a, b] = [await start('a'), await start('b')]
    await hold(a.store, reserved(1))
    await b.store.mark(tabIdOf(1), { refundAskedAtMs: 5 })
    expect(await a.store.reserve(reserved(2), PLENTY)).toEqual({ is: 'refused' })
    await b.store.mark(tabIdOf(1), { refundAskedAtMs: null, lostReceipt: 9 })
    expect(await a.store.reserve(reserved(2), PLENTY)).toEqual({ is: 'refused' })
    expect(await a.store.reserve(reserved(2), { ...PLENTY, receipts: 9 })).toEqual({ is: 'held' })
  })

  it('leave the calls under way of a live replica to it', async () => {
    const [a, b] = [await start('a'), await start('b')]
    const call = await hold(a.store, reserved(1, { isRepeatable: false }))
    expect(await b.store.begin(begun(call))).toBe(false)
    expect(await b.store.open()).toEqual([])
    expect(await b.store.commit([delivering(call)], sealed)).toEqual([null])
    expect(await b.store.reserve(call, PLENTY)).toEqual({ is: 'known', call })
    expect(await a.store.open()).toEqual([call])
  })

  it('take over from a silent replica what must not be done twice, and give back the rest; what it still ends counts no more', async () => {
    const [a, b] = [await start('a'), await start('b')]
    const calls = [1, 2, 3].map((seq) => reserved(seq, { isRepeatable: seq === 1, ceiling: 30 }))
    for (const call of calls) await hold(a.store, call)
    const [first, second, third] = calls as [ReservedTabCall, ReservedTabCall, ReservedTabCall]
    for (const call of [first, second]) expect(await a.store.begin(begun(call))).toBe(true)
    expect(await b.store.reserve(reserved(4, { ceiling: 30 }), PLENTY)).toEqual({ is: 'refused' })
    const { arrivals } = b.store.shared
    a.timers.stop()
    await until('b has the call', async () => (await b.store.open()).length === 1)
    expect(b.store.shared.arrivals).toBeGreaterThan(arrivals)
    expect(await b.store.open()).toEqual([begun(second)])
    expect((await b.store.tab(tabIdOf(1)))?.reserved).toBe(units(10))
    // The first call is asked again, at the other replica, and answered there.
    await hold(b.store, first)
    const late = calls.map((call) => delivering(call, { result: '"late"' }))
    expect(await a.store.commit(late, sealed)).toEqual([null, null, null])
    const answers = await b.store.commit([delivering(first), failing(second)], sealed)
    expect(await a.store.commit(late, sealed)).toEqual([...answers, null])
    a.timers.go()
    await until('a is back', () => a.store.shared.awayBecause === null && a.store.shared.lapses === 1)
    expect(await a.store.begin(begun(first))).toBe(false)
    expect(await a.store.begin(begun(third))).toBe(false)
    const again = await hold(a.store, third)
    await a.store.commit([delivering(again)], sealed)
    expect(await audit(b.store, 1)).toEqual([1, 2, 3])
  })

  it('lose nothing and do not wait for each other for ever while one takes over and the other still writes', async () => {
    const [a, b] = [await start('a'), await start('b')]
    const groups = [groupsOf(a.store), groupsOf(b.store)]
    const calls = Array.from({ length: 30 }, (_, i) =>
      TABS.map((tab) => reserved(i + 1, { tab, isRepeatable: i % 2 === 0 })),
    )
    for (const call of calls.flat()) await hold(a.store, call)
    for (const call of calls.flat()) await a.store.begin(begun(call))
    a.timers.stop()
    for (const row of calls.slice(0, 15)) await Promise.all(row.map((call) => groups[0]?.add(delivering(call))))
    await until('b has calls', async () => (await b.store.open()).length > 0)
    const late = Promise.all(
      calls
        .slice(15)
        .flat()
        .map((call) => groups[0]?.add(delivering(call))),
    )
    const open = await b.store.open()
    expect(open.every(({ isRepeatable }) => !isRepeatable)).toBe(true)
    await Promise.all(open.map((call) => groups[1]?.add(failing(call))))
    await late
    for (const tab of TABS) {
      const done = await audit(b.store, tab)
      // Of those that were given back nothing is left, so they can be asked again.
      expect(done.slice(0, 15)).toEqual(Array.from({ length: 15 }, (_, i) => i + 1))
      expect(done.filter((seq) => seq % 2 === 0).length).toBe(15)
    }
  })

  it('give a replica that starts again what it had, at once', async () => {
    const [a, b] = [await start('a', 60_000), await start('b', 60_000)]
    const calls = [await hold(a.store, reserved(1)), await hold(a.store, reserved(2, { isRepeatable: false }))]
    await a.store.begin(begun(calls[1] as ReservedTabCall))
    a.timers.stop()
    const next = await start('a', 60_000)
    expect(await next.store.open()).toEqual([begun(calls[1] as ReservedTabCall)])
    expect(await b.store.call(tabIdOf(1), 1)).toBeUndefined()
    expect(
      await a.store.commit(
        calls.map((call) => delivering(call)),
        sealed,
      ),
    ).toEqual([null, null])
    await next.store.commit([failing(calls[1] as ReservedTabCall)], sealed)
    expect(await audit(b.store, 1)).toEqual([2])
  })

  it('go on with the calls of a replica that was killed between reservation and commit', async () => {
    const b = await start('b')
    const entry = new URL('tab-replica-entry.ts', import.meta.url).pathname
    const killed = new Program({ entry, args: [url, String(LEASE_MS)] })
    await until('the calls are under way', () => {
      if (killed.ended !== null) throw new Error(killed.stderr)
      return killed.stdout.includes('at work')
    })
    expect(await b.store.reserve(reserved(5, { ceiling: 40 }), upTo(40))).toEqual({ is: 'refused' })
    await killed.end('SIGKILL')
    await until('the calls fall', async () => (await b.store.open()).length > 0)
    // Call 4 was begun and must not be done twice; the others are free again, with all that was held for them.
    expect((await b.store.open()).map(({ seq, state }) => ({ seq, state }))).toEqual([{ seq: 4, state: 'executing' }])
    await b.store.commit([failing(reserved(4, { isRepeatable: false }))], sealed)
    for (const seq of [1, 2, 3, 5]) {
      const call = await hold(b.store, reserved(seq, { ceiling: 40 }))
      await b.store.commit([delivering(call)], sealed)
    }
    expect(await audit(b.store, 1)).toEqual([1, 2, 3, 4, 5])
    expect(await b.store.reserve(reserved(6, { price: 1, ceiling: 40 }), upTo(40))).toEqual({ is: 'refused' })
  })

  it('let one replica claim at a time, and the next one when that is dead', async () => {
    const [a, b] = [await start('a'), await start('b')]
    for (const tab of [1, 2]) await a.store.commit([delivering(await hold(a.store, reserved(1, { tab })))], sealed)
    const claim = { txId: tabIdOf(100), entries: [], transaction: 'ff', madeAtMs: 5 }
    expect((await a.store.unclaimed()).length).toBe(2)
    expect(await b.store.unclaimed()).toEqual([])
    await a.store.putClaim(claim)
    await expect(b.store.putClaim({ ...claim, txId: tabIdOf(101) })).rejects.toBeInstanceOf(ClaimsAway)
    expect(await b.store.claims()).toEqual([])
    a.timers.stop()
    await until('b claims', async () => (await b.store.unclaimed()).length === 2)
    expect(await b.store.claims()).toEqual([claim])
    await expect(a.store.putClaim({ ...claim, txId: tabIdOf(102) })).rejects.toBeInstanceOf(ClaimsAway)
    expect(await a.store.claims()).toEqual([])
  })

  it('share a secret that the first one makes', async () => {
    const replicas = [await start('a'), await start('b')]
    const made = replicas.map(({ claims }, i) => claims.secret('receipt key', () => new Uint8Array(32).fill(i + 1)))
    const [one, other] = await Promise.all(made)
    expect(one).toEqual(other)
    expect(one?.length).toBe(32)
    const third = await (await start('c')).claims.secret('receipt key', () => new Uint8Array(32))
    expect(third).toEqual(one)
    expect(await replicas[0]?.claims.secret('another', () => Uint8Array.of(9))).toEqual(Uint8Array.of(9))
  })

  it('find their tables in a database of the release before tabs', async () => {
    const claims = await PostgresClaims.open({
      place,
      network: 'test',
      home: 'a',
      leaseMs: LEASE_MS,
      timers: new StoppableTimers(),
    })
    await claims.tabs().close()
    const database = await PostgresDatabase.open(place, 1)
    await makeOlder(database, 4)
    await database.close()
    const { store } = await start('a')
    await store.commit([delivering(await hold(store, reserved(1)))], sealed)
    expect(await audit(store, 1)).toEqual([1])
  })

  it('know no free calls of a release that did not count them', async () => {
    const { store } = await start('a')
    await store.commit([failing(await hold(store, reserved(1)))], sealed)
    expect(await store.tab(tabIdOf(1))).toMatchObject({ uncharged: 1 })
    const database = await PostgresDatabase.open(place, 1)
    await makeOlder(database, 5)
    await database.close()
    const { store: newer } = await start('b')
    expect(await newer.tab(tabIdOf(1))).toMatchObject({ receipts: 1, uncharged: 0 })
  })
})

describe('the tabs of several replicas while the database is away', () => {
  for (const [signal, how] of [
    ['SIGINT', 'restarts'],
    ['SIGQUIT', 'crashes'],
  ] as const) {
    it(`keep every answer when it ${how}, and take calls again when it is back`, async () => {
      const server = await PostgresServer.start()
      const place = postgresPlace(server.url())
      if (!place.ok) throw new Error(place.fault.code)
      const options = { place: place.value, network: 'test', leaseMs: LEASE_MS }
      const stores: PostgresTabStore[] = []
      for (const home of ['a', 'b'])
        stores.push((await PostgresClaims.open({ ...options, home, timers: new StoppableTimers() })).tabs())
      const given = new Map<string, string>()
      let isStopped = false
      let isAway = false
      /** A reservation whose answer was lost is there all the same: then the call is ended where it is. */
      const pay = async (call: ReservedTabCall, turn: number): Promise<boolean> => {
        await stores[turn % 2]?.reserve(call, PLENTY)
        let isAnswered = false
        for (const store of stores) {
          const [answered] = await store.commit([delivering(call)], sealed)
          if (!answered) continue
          const { signature } = answered.receipt
          expect(given.get(callIdOf(call)) ?? signature).toBe(signature)
          given.set(callIdOf(call), signature)
          isAnswered = true
        }
        return isAnswered
      }
      /** Pays for one call after the other on one tab, and sends each again until it has an answer. */
      const payer = async (tab: number): Promise<number> => {
        for (let seq = 1, turn = tab; ; turn++) {
          try {
            if (await pay(reserved(seq, { tab }), turn)) seq += 1
            else await setTimeout(50)
          } catch (error) {
            if (!(error instanceof ClaimsAway)) throw error
            isAway = true
            await setTimeout(100)
          }
          if (isStopped) return seq
        }
      }
      const payers = TABS.map(payer)
      await until('calls are answered', () => given.size > 50)
      await server.end(signal)
      await until('the database is away', () => isAway)
      await server.begin()
      const before = given.size
      await until('calls are answered again', () => given.size > before + 50)
      isStopped = true
      await Promise.all(payers)
      for (const [id, signature] of given) {
        const [tabId, seq] = id.split(':') as [TxId, string]
        expect(await stores[0]?.call(tabId, Number(seq))).toMatchObject({ receipt: { signature } })
      }
      for (const tab of TABS) {
        const seqs = await audit(stores[1] as TabStore, tab)
        expect(seqs).toEqual(seqs.map((_, i) => i + 1))
      }
      for (const store of stores) await store.close()
      await server.remove()
    })
  }
})
