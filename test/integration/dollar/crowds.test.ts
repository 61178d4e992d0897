import { afterEach, describe, expect, it } from 'vitest'
import type { ServiceDefinition } from '../../../marketplace/services/service.ts'
import { closeRails, newPayer, type Payer, PRICE, paymentOf, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets, ONCE } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** The most calls that one payer may have under way. */
const CROWD = 64
/** How many works a payer may leave unpaid, and how many of its calls of a `reachesOut` service may fail. A paid call allows one more. */
const [UNPAID, FAILED] = [5, 10]

/** The test services. One of them counts as a service that asks an address of the caller's choice (`reachesOut`). */
const SERVICES: readonly ServiceDefinition[] = TEST_SERVICES.map((definition) =>
  definition.serviceId === AGAIN ? { ...definition, reachesOut: true } : definition,
)

/** Calls many times at once as one payer, each time with another authorization. Returns how often each answer came. */
async function crowd(rail: TestRail, payer: Payer, request: string, serviceId = ONCE): Promise<Map<string, number>> {
  const calls = Array.from({ length: CROWD }, () => rail.order(request, { serviceId, payment: paymentOf(payer) }))
  const counts = new Map<string, number>()
  for (const code of await Promise.all(calls.map((call) => rail.codeOf(call))))
    counts.set(code, (counts.get(code) ?? 0) + 1)
  return counts
}

describe('many calls of one payer at once', () => {
  it('are worked on only as far as the payer is trusted if its money suffices for one', async () => {
    const rail = await TestRail.open()
    const payer = newPayer()
    rail.token.mint(payer.address, PRICE)
    // Work is slower than verification, so all are verified before the first is settled.
    const answers = await crowd(rail, payer, 'slow:200')
    expect([answers.get('settled'), answers.get('stable/refused')]).toEqual([1, CROWD - 1])
    const paid = 1
    expect(rail.runs).toBeLessThanOrEqual(paid + UNPAID + paid)
    expect(rail.income).toBe(PRICE)
  })

  it('are all worked on if its money suffices for all', async () => {
    const rail = await TestRail.open()
    expect(await crowd(rail, rail.payer(), 'ok')).toEqual(new Map([['settled', CROWD]]))
    expect([rail.runs, rail.income]).toEqual([CROWD, BigInt(CROWD) * PRICE])
  })

  it('are worked on no further if it is unknown whether the first was paid', async () => {
    const rail = await TestRail.open()
    rail.facilitator.settleProfile = 'deaf'
    const answers = await crowd(rail, rail.payer(), 'slow:200')
    expect(answers).toEqual(
      new Map([
        ['stable/unsettled', UNPAID],
        ['service/unavailable', CROWD - UNPAID],
      ]),
    )
    expect([rail.runs, rail.income]).toEqual([UNPAID, 0n])
    expect(rail.dollar.figures.unknown).toBe(UNPAID)
  })

  it('reach a failing target no more often than one call after another would', async () => {
    const rail = await TestRail.open({ services: SERVICES })
    const answers = await crowd(rail, rail.payer(), 'fail', AGAIN)
    expect(new Set(answers.keys())).toEqual(new Set(['service/failed', 'stable/failing']))
    expect(rail.runs).toBeLessThan(FAILED + UNPAID)
    expect(rail.income).toBe(0n)
  })
})

it('a refused settlement counts once, and not again when its authorization expires', async () => {
  const rail = await TestRail.open()
  const payer = rail.payer()
  rail.facilitator.settleProfile = 'lying'
  const calls = Array.from({ length: UNPAID }, () => rail.order('ok', { payment: paymentOf(payer) }))
  for (const call of calls) expect(await rail.codeOf(call)).toBe('stable/refused')
  for (const { payment } of calls) rail.token.cancel(payer.address, payment.authorization.nonce)
  rail.facilitator.settleProfile = null
  const again = await rail.restart()
  await until('all are over', async () => (await again.store.open()).length === 0)
  expect(await again.codeOf(again.order('ok', { payment: paymentOf(payer) }))).toBe('settled')
})
