import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresDatabase } from '../../../src/storage/postgres-database.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { verdict } from '../../support/api.ts'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import { type DollarCall, Dollars, offerDollars, priceOf, settleDollars, takesDollars } from './dollars.ts'
import { TwoReplicas } from './operator.ts'
import { PostgresServer } from './postgres.ts'

/** Short, so that a dead replica is noticed soon. */
const LEASE_SECONDS = 8
const SETTLES = 1_000
/** Repeats among {@link SETTLES}: the same payment at once through the other replica. */
const DUPLICATES = 100

const ONCE = 'node-test-once'

const workshop = new Workshop()
let server: PostgresServer
let database: PostgresDatabase
let dollars: Dollars
let replicas: TwoReplicas
beforeAll(async () => {
  server = await PostgresServer.start()
  dollars = await Dollars.open()
  const options = { claimsUrl: server.url(), leaseSeconds: LEASE_SECONDS, more: dollars.settings }
  replicas = await TwoReplicas.start(workshop, options)
  for (const { url } of replicas.nodes) await takesDollars(url, ONCE)
  const place = postgresPlace(server.url())
  if (!place.ok) throw new Error(place.fault.code)
  database = await PostgresDatabase.open(place.value, 1)
})
afterAll(async () => {
  await database?.close()
  await replicas?.cluster.stop()
  await dollars?.close()
  await server?.remove()
})

/** Nonces of this rail's claims in a state, from the database. */
const noncesIn = async (state: string): Promise<readonly string[]> => {
  const sql = `SELECT body FROM ${database.schema}.claims WHERE kind = 'stable' AND state = $1`
  const rows = await database.query<{ body: string }>(sql, [state])
  return rows.map(({ body }) => (JSON.parse(body) as { nonce: string }).nonce)
}
const settledNonces = async (): Promise<readonly string[]> => (await noncesIn('settled')).toSorted()
/** Nonces that moved money, once per move. */
const usedNonces = (): readonly string[] => dollars.token.uses.map(({ nonce }) => nonce).toSorted()
/** Nonces of all calls delivered so far in this file. */
const delivered: string[] = []
/** Expects one run and one settlement per call, and that database, ledger and money agree. */
const expectAllPaid = async (calls: readonly DollarCall[], earnedBefore: bigint): Promise<void> => {
  delivered.push(...calls.map(({ nonce }) => nonce))
  expect(calls.map((call) => replicas.runsOf(call))).toEqual(calls.map(() => 1))
  expect(calls.map((call) => dollars.settlementsOf(call))).toEqual(calls.map(() => 1))
  expect(dollars.earnedSince(earnedBefore)).toBe(priceOf(calls.length))
  expect(usedNonces()).toEqual(delivered.toSorted())
  expect(await settledNonces()).toEqual(usedNonces())
}

describe('two replicas on one PostgreSQL, paid in dollars through one facilitator', () => {
  it(`carry ${SETTLES} settles at once out, a tenth of them twice: each runs once, settles once, none is lost`, async () => {
    const before = dollars.earned
    const calls = Array.from({ length: SETTLES - DUPLICATES }, (_, i) =>
      dollars.call({ serviceId: ONCE, request: `ok:${i}`, key: i % 2 === 0 ? `order-${i}` : null }),
    )
    const all = [
      ...calls.map((call, i) => ({ call, at: i })),
      ...calls.slice(0, DUPLICATES).map((call, i) => ({ call, at: i + 1 })),
    ]
    const startedMs = performance.now()
    const answers = await Promise.all(all.map(({ call, at }) => settleDollars(replicas, call, at)))
    const seconds = (performance.now() - startedMs) / 1_000
    console.info(`${SETTLES} stablecoin settles through two replicas in ${seconds.toFixed(1)} s`)
    // With an idempotency key a repeat gets the result again. Without one, a repeat after the delivery gets a 409.
    const said = new Map(calls.map(({ nonce }) => [nonce, [] as string[]]))
    for (const [i, { call }] of all.entries()) said.get(call.nonce)?.push(verdict(answers[i]!))
    for (const [i, { nonce, key }] of calls.entries()) {
      const verdicts = said.get(nonce)?.toSorted() ?? []
      expect(verdicts.length).toBe(i < DUPLICATES ? 2 : 1)
      expect(verdicts[0]).toBe('200 paid')
      expect(key === null ? ['200 paid', '409 already_delivered'] : ['200 paid']).toContain(verdicts.at(-1))
    }
    const results = answers.flatMap(({ status, body }) => (status === 200 ? [body.result] : []))
    const requests = all.flatMap(({ call }, i) => (answers[i]?.status === 200 ? [{ echo: call.request }] : []))
    expect(results).toEqual(requests)
    for (const runs of replicas.runs) expect(runs.size).toBeGreaterThan(SETTLES / 10)
    await expectAllPaid(calls, before)
  })

  it('give a name to one of two authorizations that come to both at once, and charge the other never', async () => {
    const before = dollars.earned
    const pairs = Array.from({ length: 30 }, (_, i) => {
      const order = { serviceId: ONCE, request: `ok:named-${i}`, key: 'basket', payer: dollars.payer() }
      return [dollars.call(order), dollars.call(order)] as const
    })
    const answers = await Promise.all(
      pairs.flatMap(([one, other]) => [settleDollars(replicas, one, 0), settleDollars(replicas, other, 1)]),
    )
    expect(answers.map(verdict)).toEqual(answers.map(() => '200 paid'))
    expect(pairs.map(([{ payer }]) => dollars.spentBy(payer))).toEqual(pairs.map(() => priceOf(1)))
    const charged = pairs.map(([one, other]) => (dollars.settlementsOf(one) === 1 ? one : other))
    await expectAllPaid(charged, before)
    // A late repeat at either replica gets the answer again, without a new charge.
    const [{ payer, request }] = charged as [DollarCall]
    for (const { url } of replicas.nodes) {
      const late = dollars.call({ serviceId: ONCE, request, key: 'basket', payer })
      expect(verdict(await offerDollars(url, late))).toBe('200 paid')
      const changed = dollars.call({ serviceId: ONCE, request: 'ok:another', key: 'basket', payer })
      expect(verdict(await offerDollars(url, changed))).toBe('409 idempotency_conflict')
    }
    expect(dollars.spentBy(payer)).toBe(priceOf(1))
  })

  it('take over settlements of which a killed replica did not know the outcome: each is settled once', async () => {
    const before = dollars.earned
    const { token, facilitator } = dollars
    const [, dying] = replicas.nodes
    token.isDown = true
    const offered = async (profile: 'pending' | 'mute', count: number): Promise<readonly DollarCall[]> => {
      facilitator.settleProfile = profile
      const calls = Array.from({ length: count }, (_, i) =>
        dollars.call({ serviceId: ONCE, request: `ok:${profile}-${i}`, key: `${profile}-${i}` }),
      )
      answers.push(...calls.map((call) => settleDollars(replicas, call, 1)))
      await until(`${profile}: settlements are under way`, async () => {
        const settling = await noncesIn('settling')
        const asked = facilitator.asked.flatMap(({ path, body }) =>
          path === '/settle' ? [body?.paymentPayload.payload.authorization.nonce] : [],
        )
        return calls.every(({ nonce }) => settling.includes(nonce) && asked.includes(nonce))
      })
      return calls
    }
    const answers: ReturnType<typeof settleDollars>[] = []
    const moved = await offered('pending', 6)
    const unmoved = await offered('mute', 6)
    expect(moved.map((call) => dollars.settlementsOf(call))).toEqual(moved.map(() => 1))
    expect(unmoved.map((call) => dollars.settlementsOf(call))).toEqual(unmoved.map(() => 0))
    await dying.kill()
    facilitator.settleProfile = null
    token.isDown = false
    expect((await Promise.all(answers)).map(verdict)).toEqual(answers.map(() => '200 paid'))
    await expectAllPaid([...moved, ...unmoved], before)
    await dying.start()
    await takesDollars(dying.url, ONCE)
    const repeated = await Promise.all(moved.map((call) => offerDollars(dying.url, call)))
    expect(repeated.map(verdict)).toEqual(moved.map(() => '200 paid'))
    expect(usedNonces()).toEqual(delivered.toSorted())
  })

  it('end as they were told, with nothing open and no error in their logs', async () => {
    const exits = await replicas.cluster.stop()
    expect(exits.map(({ code }) => code)).toEqual([0, 0])
    const sql = `SELECT id FROM ${database.schema}.claims WHERE kind = 'stable' AND owner IS NOT NULL`
    expect(await database.query(sql)).toEqual([])
    for (const { errors } of replicas.nodes) expect(errors).toEqual([])
  })
})
