import { afterEach, expect, it } from 'vitest'
import type { ServiceDefinition } from '../../../marketplace/services/service.ts'
import { closeRails, paymentOf, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** The test services. One of them may take as long as a model. */
const SERVICES: readonly ServiceDefinition[] = TEST_SERVICES.map((definition) =>
  definition.serviceId === ONCE ? { ...definition, timeoutMs: 60_000 } : definition,
)
const CALLS = 40
/** How many calls slow services may work on at once. */
const PLACES = 16

it('one payer’s calls of slow services do not delay cheap calls of others, paid in coins', async () => {
  const market = await TestMarket.open({ services: SERVICES })
  const slow = await Promise.all(
    Array.from({ length: CALLS }, (_, i) => market.order('ok', { tx: { nonce: BigInt(i) } })),
  )
  const quick = await market.order('ok', { serviceId: AGAIN, from: 3 })
  await market.mine([...slow.map(({ tx }) => tx), quick.tx])
  market.workbench.hold()
  const answers = slow.map((payment) => market.settle(payment))
  await market.quiet()
  const answer = market.settle(quick)
  await market.quiet()
  expect(market.workbench.begun).toContain(`${AGAIN} ok`)
  market.workbench.release()
  expect((await answer).ok).toBe(true)
  expect((await Promise.all(answers)).map(({ ok }) => ok)).toEqual(new Array(CALLS).fill(true))
})

it('one payer’s calls of slow services do not delay cheap calls of others, paid in dollars', async () => {
  const rail = await TestRail.open({ services: SERVICES })
  const payer = rail.payer()
  // A payer with enough paid calls may have work under way in every slot of slow services.
  for (let i = 0; i < PLACES; i++)
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(payer) }))).toBe('settled')
  const before = rail.market.workbench.begun.length
  rail.market.workbench.hold()
  const slow = Array.from({ length: CALLS }, () =>
    rail.codeOf(rail.order('ok', { serviceId: ONCE, payment: paymentOf(payer) })),
  )
  const begun = (): readonly string[] => rail.market.workbench.begun.slice(before)
  await until('every place is taken', async () => (begun().length === PLACES ? true : null))
  const answer = rail.codeOf(rail.order('ok'))
  await until('the cheap call begins', async () => (begun().includes(`${AGAIN} ok`) ? true : null))
  rail.market.workbench.release()
  expect(await answer).toBe('settled')
  expect(await Promise.all(slow)).toEqual(new Array(CALLS).fill('settled'))
})
