import { afterEach, expect, it } from 'vitest'
import { closeRails, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets, TestMarket } from '../../support/market.ts'
import { until } from '../../support/processes.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** How often repeatable work is started. */
const RUNS = 3

it('work that kills the node each time is started three times, and then refunded in coins', async () => {
  let market = await TestMarket.open()
  const payment = await market.pay('ok', { serviceId: AGAIN })
  market.workbench.hold()
  void market.settle(payment)
  await market.quiet()
  let begun = market.workbench.begun.length
  for (let starts = 1; starts < RUNS; starts++) {
    market = await market.restart()
    market.workbench.hold()
    await market.till.resume()
    await market.quiet()
    begun += market.workbench.begun.length
  }
  market = await market.restart()
  await market.till.resume()
  await market.quiet()
  expect([begun, market.workbench.begun]).toEqual([RUNS, []])
  expect(await market.store.get(payment.txId)).toMatchObject({ state: 'failed', reason: 'service/interrupted' })
  await market.pass(500)
  await market.mineWaiting()
  expect(market.closure(payment)?.how).toBe('failed')
})

it('work that kills the node each time is started three times, and then nothing is charged in dollars', async () => {
  let rail = await TestRail.open({ holdsWork: true })
  const { begun } = rail.market.workbench
  const call = rail.order('ok')
  void rail.settle(call)
  await rail.reaches('executing')
  for (let starts = 1; starts < RUNS; starts++) {
    rail = await rail.restart()
    await until('the work begins again', async () => (begun.length === starts + 1 ? true : null))
  }
  rail = await rail.restart({ holdsWork: false })
  expect((await rail.reaches('unpaid')) as { reason?: string }).toMatchObject({ reason: 'service/interrupted' })
  expect([begun.length, rail.income]).toEqual([RUNS, 0n])
})
