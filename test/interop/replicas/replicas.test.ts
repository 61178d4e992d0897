import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type CallView, post, verdict } from '../../support/api.ts'
import { Caller, type Payment } from '../../support/caller.ts'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import { isOpen, shareOf, TwoReplicas } from './operator.ts'
import { PostgresServer } from './postgres.ts'

/** Short, so that a dead replica is noticed soon. */
const LEASE_SECONDS = 8
const SETTLES = 1_000
/** Repeats among {@link SETTLES}: the same payment again, through the other replica. */
const DUPLICATES = 100

const ONCE = 'node-test-once'
const AGAIN = 'node-test-again'

const workshop = new Workshop()
let server: PostgresServer
let replicas: TwoReplicas
beforeAll(async () => {
  server = await PostgresServer.start()
  replicas = await TwoReplicas.start(workshop, { claimsUrl: server.url(), leaseSeconds: LEASE_SECONDS })
})
afterAll(async () => {
  await replicas?.cluster.stop()
  await server?.remove()
})

const requestsOf = (mode: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${mode}:${i}`)
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n)
const begun = (payments: readonly Payment[], count: number): Promise<unknown> =>
  until(`${count} works have begun`, () => payments.filter((payment) => replicas.runsOf(payment) > 0).length >= count)

describe('two replicas on one PostgreSQL', () => {
  it('are both settlers of one agent, and quote the same', async () => {
    const [one, other] = replicas.nodes
    const quotes = await Promise.all(
      [one, other].map(({ url }) => post<CallView>(url, `/api/x402/${ONCE}`, { request: 'ok' })),
    )
    const [offer, same] = quotes.map(({ body }) => body.accepts?.[0])
    expect(offer).toMatchObject({ extra: { available: true } })
    expect(same).toMatchObject({ payTo: offer?.payTo, maxAmountRequired: offer?.maxAmountRequired })
    const { body } = await ask<{ settlers: string[] }>(one.url, `/api/v1/agents/${offer?.extra.agentId}`)
    const settlers = [2, 4].map((key) => new Caller('', key).address)
    expect(body).toMatchObject({ agent: { settlers: expect.arrayContaining(settlers) } })
  })

  it(`carry ${SETTLES} settles at once out, a tenth of them twice: each runs once, none is lost, all are paid`, async () => {
    const payments = await replicas.pay(ONCE, requestsOf('ok', SETTLES - DUPLICATES))
    const before = await replicas.earned()
    const startedMs = performance.now()
    const calls = [
      ...payments.map((payment, i) => ({ payment, at: i })),
      ...payments.slice(0, DUPLICATES).map((payment, i) => ({ payment, at: i + 1 })),
    ]
    const answers = await Promise.all(calls.map(({ payment, at }) => replicas.settle(payment, at)))
    const seconds = (performance.now() - startedMs) / 1_000
    console.info(`${SETTLES} settles through two replicas in ${seconds.toFixed(1)} s`)
    expect(answers.map(verdict)).toEqual(calls.map(() => '200 paid'))
    expect(answers.map(({ body }) => body.result)).toEqual(calls.map(({ payment }) => ({ echo: payment.request })))
    expect(payments.map((payment) => replicas.runsOf(payment))).toEqual(payments.map(() => 1))
    for (const runs of replicas.runs) expect(runs.size).toBeGreaterThan(SETTLES / 10)
    expect(await replicas.closed(payments)).toEqual(payments.map(() => 'completed'))
    expect((await replicas.earned()) - before).toBe(sum(payments.map(shareOf)))
  })

  it('take over from each other when one is killed: what may run again does, the rest is given back, once', async () => {
    const [, dying] = replicas.nodes
    const again = await replicas.pay(AGAIN, requestsOf('slow:1500', 6))
    const once = await replicas.pay(ONCE, requestsOf('slow:1500', 6))
    const payments = [...again, ...once]
    const before = await replicas.earned()
    const answers = payments.map((payment) => replicas.settle(payment, 1))
    // Each replica runs several calls at once, so the killed one is in the middle of calls of both services.
    await Promise.all([begun(again, 2), begun(once, 2)])
    await dying.kill()
    const settled = await Promise.all(answers)
    const delivered = payments.filter((_, i) => verdict(settled[i]!) === '200 paid')
    const returned = payments.filter((_, i) => verdict(settled[i]!) === '502 upstream_failed')
    expect(delivered.length + returned.length).toBe(payments.length)
    expect(returned.map(({ serviceId }) => serviceId)).toEqual(returned.map(() => ONCE))
    expect(returned.length).toBeGreaterThan(0)
    for (const payment of payments) {
      const runs = replicas.runsOf(payment)
      // The replica may be killed after recording the start and before the work: it must still count as run.
      if (returned.includes(payment)) expect(runs).toBeLessThanOrEqual(1)
      else if (payment.serviceId === ONCE) expect(runs).toBe(1)
      else expect([1, 2]).toContain(runs)
    }
    const outcomes = await replicas.closed(payments)
    expect(outcomes).toEqual(payments.map((payment) => (returned.includes(payment) ? 'refunded' : 'completed')))
    expect((await replicas.earned()) - before).toBe(sum(delivered.map(shareOf)))
    await dying.start()
    await replicas.cluster.connected()
    await replicas.cluster.converged()
    await until('the replica sells again', () => isOpen(dying.url))
  })

  it('fence one that sleeps in the middle: it finds its work taken over and given back, and neither answers nor settles it', async () => {
    const [, sleeper] = replicas.nodes
    const payments = await replicas.pay(ONCE, requestsOf('slow:2500', 4))
    const before = await replicas.earned()
    const caller = new Caller(sleeper.url, 1)
    const asked = payments.map((payment) => caller.offer(payment))
    await begun(payments, 4)
    sleeper.daemon.program.signal('SIGSTOP')
    const settled = await Promise.all(payments.map((payment) => replicas.settleAt(payment, 0)))
    expect(settled.map(verdict)).toEqual(payments.map(() => '502 upstream_failed'))
    sleeper.daemon.program.signal('SIGCONT')
    expect((await Promise.all(asked)).map(verdict)).toEqual(payments.map(() => '502 upstream_failed'))
    expect(await replicas.closed(payments)).toEqual(payments.map(() => 'refunded'))
    expect(payments.map((payment) => replicas.runsOf(payment))).toEqual(payments.map(() => 1))
    expect(await replicas.earned()).toBe(before)
    await replicas.cluster.converged()
    await until('the replica sells again', () => isOpen(sleeper.url))
  })

  it('close their quotes while PostgreSQL is gone, open them by themselves, and lose or repeat nothing', async () => {
    const payments = await replicas.pay(ONCE, requestsOf('slow:700', 40))
    const later = await replicas.pay(ONCE, requestsOf('ok:later', 2))
    const before = await replicas.earned()
    const answers = payments.map((payment, i) => replicas.settle(payment, i))
    await begun(payments, 8)
    await server.end('SIGQUIT')
    const urls = replicas.nodes.map(({ url }) => url)
    for (const [i, url] of urls.entries()) {
      await until('quotes are closed', async () => !(await isOpen(url)))
      const quote = await post<CallView>(url, `/api/x402/${ONCE}`, { request: 'ok' })
      expect(quote).toMatchObject({ status: 402, body: { available: false } })
      const refused = await new Caller(url, 1).offer(later[i] as Payment)
      expect(verdict(refused)).toBe('503 claim_store_unreachable')
      expect(refused.body.error).toContain('Do not pay again')
      expect((await ask(url, '/api/x402/requests')).status).toBe(503)
    }
    await server.begin()
    for (const url of urls) await until('quotes are open', () => isOpen(url))
    const settled = await Promise.all([...answers, ...later.map((payment, i) => replicas.settle(payment, i))])
    const all = [...payments, ...later]
    expect(settled.map(verdict)).toEqual(all.map(() => '200 paid'))
    expect(all.map((payment) => replicas.runsOf(payment))).toEqual(all.map(() => 1))
    expect(await replicas.closed(all)).toEqual(all.map(() => 'completed'))
    expect((await replicas.earned()) - before).toBe(sum(all.map(shareOf)))
  })

  it('never wrote the password of their store anywhere', async () => {
    const exits = await replicas.cluster.stop()
    expect(exits.map(({ code }) => code)).toEqual([0, 0])
    for (const { daemon } of replicas.nodes) {
      expect(daemon.program.stderr + daemon.program.stdout).not.toContain('secret-of-tests')
      expect(daemon.log.filter(({ level }) => Number(level) >= 50)).toEqual([])
    }
  })
})
