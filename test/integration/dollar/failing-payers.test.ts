import { afterEach, describe, expect, it } from 'vitest'
import type { ServiceDefinition } from '../../../marketplace/services/service.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { closeRails, type Payer, PRICE, paymentOf, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets, ONCE } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** How many of a payer's calls may fail in ten minutes at services that ask an address of the caller's choice. */
const BORNE = 10
/** Number of keys of one client, and of simultaneous calls of each. */
const [KEYS, AT_ONCE] = [20, 6] as const

/** The test services. One of them counts as a service that asks an address of the caller's choice (`reachesOut`). */
const SERVICES: readonly ServiceDefinition[] = TEST_SERVICES.map((definition) =>
  definition.serviceId === AGAIN ? { ...definition, reachesOut: true } : definition,
)

async function codes(rail: TestRail, payer: Payer, requests: readonly string[], serviceId = AGAIN): Promise<string[]> {
  const found: string[] = []
  for (const request of requests)
    found.push(await rail.codeOf(rail.order(request, { serviceId, payment: paymentOf(payer) })))
  return found
}

const failures = (count: number): string[] => new Array<string>(count).fill('fail')

describe('a payer whose calls fail at their targets', () => {
  it('is refused for a while, with the time; nothing runs and nothing is charged', async () => {
    const rail = await TestRail.open({ services: SERVICES })
    const payer = rail.payer()
    expect(new Set(await codes(rail, payer, failures(BORNE)))).toEqual(new Set(['service/failed']))
    const verified = rail.facilitator.count('/verify')
    const refused = await rail.settle(rail.order('ok', { payment: paymentOf(payer) }))
    expect(refused).toMatchObject({ ok: false, fault: { code: 'stable/failing', detail: { serviceId: AGAIN } } })
    const seconds = refused.ok ? 0 : Number(refused.fault.detail.seconds)
    expect(seconds).toBeGreaterThan(500)
    expect(seconds).toBeLessThanOrEqual(600)
    expect([rail.runs, rail.income, rail.facilitator.count('/verify')]).toEqual([BORNE, 0n, verified])
  })

  it('may offer the refused payment again: it was not used', async () => {
    const rail = await TestRail.open({ services: SERVICES })
    const payer = rail.payer()
    await codes(rail, payer, failures(BORNE))
    const call = rail.order('ok', { payment: paymentOf(payer) })
    expect(await rail.codeOf(call)).toBe('stable/failing')
    const again = await rail.restart()
    expect(await again.codeOf(call)).toBe('settled')
  })

  it('still gets a result that waits for its payment, once that can be settled', async () => {
    const rail = await TestRail.open({ services: SERVICES })
    const payer = rail.payer()
    const call = rail.order('ok', { payment: paymentOf(payer) })
    rail.facilitator.settleProfile = 'lying'
    expect(await rail.codeOf(call)).toBe('stable/refused')
    rail.facilitator.settleProfile = null
    await codes(rail, payer, failures(BORNE))
    expect(await codes(rail, payer, ['ok'])).toEqual(['stable/failing'])
    expect(await rail.codeOf(call)).toBe('settled')
    expect([rail.runs, rail.income]).toEqual([BORNE + 1, PRICE])
  })

  it('does not affect other payers, or other services for itself', async () => {
    const rail = await TestRail.open({ services: SERVICES })
    const payer = rail.payer()
    await codes(rail, payer, failures(BORNE))
    expect(await codes(rail, payer, ['ok'], ONCE)).toEqual(['settled'])
    expect(await codes(rail, rail.payer(), ['ok'])).toEqual(['settled'])
    expect(await codes(rail, payer, ['ok'])).toEqual(['stable/failing'])
  })

  it('is refused too if it repeats a single payment', async () => {
    const rail = await TestRail.open({ services: SERVICES })
    const call = rail.order('fail')
    const found: string[] = []
    for (let i = 0; i < BORNE + 1; i++) found.push(await rail.codeOf(call))
    expect(found).toEqual([...new Array(BORNE).fill('service/failed'), 'stable/failing'])
  })
})

describe('failures that do not count', () => {
  it('are those of services without targets, and malformed results', async () => {
    const rail = await TestRail.open({ services: SERVICES })
    const payer = rail.payer()
    await codes(rail, payer, failures(BORNE + 1), ONCE)
    expect(new Set(await codes(rail, payer, new Array(BORNE + 1).fill('wrong')))).toEqual(
      new Set(['service/bad-result']),
    )
    expect(await codes(rail, payer, ['ok'])).toEqual(['settled'])
  })
})

describe('a payer whose settlements failed while the facilitator was broken', () => {
  it('gets work again as soon as the facilitator works', async () => {
    const time = { aheadMs: 0 }
    const clock = { now: () => Date.now() + time.aheadMs }
    const rail = await TestRail.open({ clock, timers: { after: (ms, end) => systemTimers.after(ms / 500, end) } })
    const payer = rail.payer()
    expect(new Set(await codes(rail, payer, new Array(10).fill('ok')))).toEqual(new Set(['settled']))
    rail.facilitator.settleProfile = '500'
    expect(new Set(await codes(rail, payer, new Array(5).fill('ok')))).toEqual(new Set(['stable/unsettled']))
    time.aheadMs = 200_000
    await until('all have run out', () => rail.dollar.figures.unknown === 0)
    rail.facilitator.settleProfile = null
    const validBefore = BigInt(Math.floor(clock.now() / 1_000) + 120)
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(payer, { validBefore }) }))).toBe('settled')
  })
})

describe('a client whose payers never pay', () => {
  it.each(['invalid_transaction_state', 'insufficient_funds'])(
    '(%s) gets no work beyond forty with ever new keys',
    async (words) => {
      const rail = await TestRail.open()
      const from = { client: '192.0.2.1', network: '192.0.2.0/24' }
      rail.facilitator.settleProfile = 'lying'
      rail.facilitator.words = words
      const found: string[] = []
      for (let i = 0; i < 50; i++) found.push(await rail.codeOf(rail.order('ok', from)))
      expect(rail.runs).toBeLessThanOrEqual(40)
      expect(found.at(-1)).not.toBe('stable/refused')
      rail.facilitator.settleProfile = null
      expect(await rail.codeOf(rail.order('ok', { client: '198.51.100.7' }))).toBe('settled')
    },
  )

  it('gets no more free work while it is unknown whether keys that paid once have paid the rest', async () => {
    const rail = await TestRail.open()
    const from = { client: '192.0.2.1', network: '192.0.2.0/24' }
    const payers = Array.from({ length: KEYS }, () => rail.payer())
    for (const payer of payers)
      expect(await rail.codeOf(rail.order('ok', { ...from, payment: paymentOf(payer) }))).toBe('settled')
    rail.facilitator.settleProfile = '500'
    for (const payer of payers)
      for (let i = 0; i < AT_ONCE; i++) await rail.codeOf(rail.order('ok', { ...from, payment: paymentOf(payer) }))
    expect(rail.runs - KEYS).toBeLessThanOrEqual(40 + 2 * KEYS)
  })

  it('gets no more free work by simultaneous calls of keys that paid once', async () => {
    const rail = await TestRail.open()
    const from = { client: '192.0.2.1', network: '192.0.2.0/24' }
    const payers = Array.from({ length: KEYS }, () => rail.payer())
    for (const payer of payers)
      expect(await rail.codeOf(rail.order('ok', { ...from, payment: paymentOf(payer) }))).toBe('settled')
    rail.facilitator.settleProfile = 'lying'
    rail.facilitator.words = 'invalid_transaction_state'
    for (const payer of payers) {
      const calls = Array.from({ length: AT_ONCE }, () => rail.order('slow:50', { ...from, payment: paymentOf(payer) }))
      await Promise.all(calls.map((call) => rail.codeOf(call)))
    }
    expect(rail.runs - KEYS).toBeLessThanOrEqual(40 + 2 * KEYS)
    rail.facilitator.settleProfile = null
    expect(await rail.codeOf(rail.order('ok', { client: '198.51.100.7' }))).toBe('settled')
  })
})
