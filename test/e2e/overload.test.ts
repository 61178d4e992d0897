import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ask, verdict } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { Workshop } from '../support/daemon.ts'
import { closedLoad, openLoad, type Sample } from '../support/open-load.ts'

const workshop = new Workshop()
/** A document that is built for each request, which takes some milliseconds. */
const PATH = '/services.json'
const SECONDS = 10
const SETTLES = 20
/** Time after which the load is steady. */
const SETTLED_MS = 4_000

it('a node that is asked for four times what it can do serves what it can in time, refuses the rest at once, and every paid call', async () => {
  const { url } = await workshop.start(workshop.folder(), {
    env: { TEST_FAST_BLOCKS: '1' },
    flags: ['--rpc-delay-max-ms', '50'],
  })
  await marketOpen(url)
  const buyer = new Caller(url, 1)
  const orders = Array.from({ length: SETTLES }, (_, i) => ({
    serviceId: 'node-test-again',
    request: `ok:${i}`,
    lock: 'lock' as const,
  }))
  const payments = await Promise.all(orders.map((order) => buyer.pay(order)))
  for (const { txId } of payments) await buyer.mined(txId)
  await closedLoad(url, PATH, 1)
  const capacity = await closedLoad(url, PATH, 2)
  const settled = Promise.all(
    payments.map(async (payment, i) => {
      await setTimeout(((i + 1) * SECONDS * 1_000) / (SETTLES + 1))
      return verdict(await buyer.settle(payment))
    }),
  )
  const samples = await openLoad(url, { path: PATH, perSecond: 4 * capacity, seconds: SECONDS })
  expect(await settled).toEqual(payments.map(() => '200 paid'))
  expect(new Set(samples.map(({ status }) => status))).toEqual(new Set([200, 503]))
  const late = samples.filter(({ dueMs }) => dueMs > SETTLED_MS)
  const [served, refused] = [200, 503].map((code) => late.filter(({ status }) => status === code)) as [
    Sample[],
    Sample[],
  ]
  expect(served.length).toBeGreaterThan(0)
  // Without refusals, requests would wait longer than the load lasts.
  expect(quantile(served, 0.95)).toBeLessThan(SECONDS * 300)
  expect(quantile(refused, 0.95)).toBeLessThan(SECONDS * 300)
  expect(refused.length).toBeGreaterThan(late.length / 2)
  const metrics = (await ask(url, '/metrics')).text
  expect(metrics).toMatch(/^farthing_http_shed_total\{kind="read"\} [1-9]/m)
  for (const { retryAfter } of refused) expect(retryAfter).toMatch(/^[1-5]$/)
})

function quantile(samples: readonly Sample[], share: number): number {
  const sorted = samples.map(({ tookMs }) => tookMs).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] as number
}
