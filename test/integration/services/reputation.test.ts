import { afterEach, expect, it } from 'vitest'
import { operatorRecord, serviceRecord } from '../../../marketplace/queries/reputation.ts'
import { AGAIN, closeMarkets, ONCE, SHOP, TestMarket } from '../../support/market.ts'

afterEach(closeMarkets)

/** Delivers calls of several callers, and mines their receipts. */
async function sell(market: TestMarket, calls: readonly { from: number; serviceId: string; times: number }[]) {
  for (const { from, serviceId, times } of calls)
    for (let i = 0; i < times; i++)
      expect((await market.buy(`ok ${from} ${serviceId} ${i}`, { from, serviceId })).answer.ok).toBe(true)
  await market.pass(1_000)
  await market.mineWaiting(2)
}

it('a caller of two services counts as one payer of their operator, and a dominant payer is not hidden by others', async () => {
  const market = await TestMarket.open()
  await sell(market, [
    { from: 1, serviceId: ONCE, times: 8 },
    { from: 1, serviceId: AGAIN, times: 1 },
    { from: 3, serviceId: ONCE, times: 1 },
    { from: 4, serviceId: ONCE, times: 1 },
  ])
  const { chain } = market.test
  const once = serviceRecord(chain, { agentId: SHOP, serviceId: ONCE })
  expect(once).toMatchObject({ delivered: 10, failed: 0, payers: 3, successPpm: 1_000_000n, topPayerPpm: 800_000n })
  // 100 / (64 + 1 + 1): three callers, but effectively little more than one.
  expect(once.effectivePayersPpm).toBe(1_515_151n)
  expect(operatorRecord(chain, SHOP)).toMatchObject({ delivered: 11, payers: 3 })
})

it('calls that an operator pays itself do not count, and calls through hired payers burn coins', async () => {
  const market = await TestMarket.open()
  // Wallet 2 is owner, payout and settler of this shop.
  await sell(market, [{ from: 2, serviceId: ONCE, times: 3 }])
  const { chain } = market.test
  const name = { agentId: SHOP, serviceId: ONCE }
  expect(serviceRecord(chain, name)).toMatchObject({ delivered: 0, payers: 0, burned: 0n, successPpm: null })
  const price = market.priceOf(ONCE)
  await sell(market, [{ from: 1, serviceId: ONCE, times: 2 }])
  const { burned, delivered, effectivePayersPpm } = serviceRecord(chain, name)
  expect({ delivered, effectivePayersPpm }).toEqual({ delivered: 2, effectivePayersPpm: 1_000_000n })
  // Burned are a hundredth of both payments and the base fees of their transactions.
  expect(burned).toBeGreaterThan((2n * price) / 100n)
})
