import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workshop } from '../../support/daemon.ts'
import { PRICE, Shop } from './shop.ts'

const workshop = new Workshop()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.open(workshop)
})
afterAll(() => shop?.close())

/** What must follow a crash: the status for the payer, and how often the work began. */
type Expected = readonly [status: number, runs: number]

/** Crash points with the outcome for the service that may be repeated and for the one that may not. */
const POINTS: Readonly<Record<string, { readonly again: Expected; readonly once: Expected }>> = {
  'before:claimed': { again: [200, 1], once: [200, 1] },
  'after:claimed': { again: [200, 1], once: [200, 1] },
  'before:executing': { again: [200, 1], once: [200, 1] },
  'after:executing': { again: [200, 1], once: [502, 0] },
  'before:settling': { again: [200, 2], once: [502, 1] },
  'after:settling': { again: [200, 1], once: [200, 1] },
  'before:settled': { again: [200, 1], once: [200, 1] },
  'after:settled': { again: [200, 1], once: [200, 1] },
}
const CASES = Object.entries(POINTS).flatMap(([point, { again, once }]) => [
  [point, 'node-test-again', ...again] as const,
  [point, 'node-test-once', ...once] as const,
])

describe('an operator that is killed', () => {
  it.each(CASES)('%s of a call to %s: money and answer agree (%d)', async (point, serviceId, status, runs) => {
    await shop.daemon.kill()
    await shop.start({ TEST_CRASH_AT: point })
    const incomeBefore = await shop.income()
    const call = await shop.order({ serviceId })
    await expect(shop.send(call)).rejects.toThrow('fetch failed')
    expect(await shop.daemon.program.exit).toEqual({ code: null, signal: 'SIGKILL' })
    await shop.start()
    const reply = await shop.sendUntilKnown(call)
    expect(reply.status).toBe(status)
    const price = status === 200 ? PRICE : 0n
    expect(reply.body).toMatchObject(status === 200 ? { result: { echo: call.request } } : { charged: false })
    expect([await shop.spent(call.payer), (await shop.income()) - incomeBefore]).toEqual([price, price])
    expect(await shop.chain.uses(call.payer.address)).toHaveLength(status === 200 ? 1 : 0)
    expect(shop.runs(call)).toBe(runs)
  })

  it('has settled what was under way before the caller asks again', async () => {
    await shop.daemon.kill()
    await shop.start({ TEST_CRASH_AT: 'after:settling' })
    const call = await shop.order()
    await expect(shop.send(call)).rejects.toThrow('fetch failed')
    await shop.daemon.program.exit
    await shop.start()
    await expect.poll(async () => (await shop.listed(call.payer))[0]?.status, { timeout: 60_000 }).toBe('completed')
    expect(await shop.spent(call.payer)).toBe(PRICE)
    expect(await shop.send(call)).toMatchObject({ status: 200, body: { result: { echo: call.request } } })
    expect(shop.runs(call)).toBe(1)
  })
})
