import { afterEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket, type TestPayment } from '../../support/market.ts'

const COIN = 100_000_000n
/** Prices in millionths of a dollar at which calls need six and forty confirmations, by the default settings. */
const [SIX, FORTY] = [100_000n, 10_000_000n]

afterEach(closeMarkets)

/** A market with a price in millionths of a dollar. It does not wait for a payment to get deep enough. */
function sellingAt(priceUsdMicros: bigint): Promise<TestMarket> {
  return TestMarket.open({ prices: { [ONCE]: priceUsdMicros }, settings: { settleWaitMs: 0 } })
}

/** Mines payments of wallet 1 in one block, together with the payments in `others`. */
async function paidTogether(market: TestMarket, count: number, others: readonly TestPayment[] = []) {
  const payments: TestPayment[] = []
  for (let i = 0; i < count; i++) payments.push(await market.order(`ok:${i}`))
  await market.mine([...payments, ...others].map(({ tx }) => tx))
  return payments
}

const unconfirmed = ({ txId }: TestPayment, confirmations: number, needed: number): { ok: false; fault: Fault } => ({
  ok: false,
  fault: { code: 'pay/unconfirmed', detail: { txId, confirmations, needed } },
})
const delivered = { ok: true, value: { claim: { state: 'delivered' } } }

describe("a stranger's payment in the block of a call", () => {
  for (const coins of [40n, 4_000n]) {
    it(`of ${coins} coins that is never redeemed does not make other calls wait`, async () => {
      const market = await sellingAt(2_000n)
      const big = await market.order('ok:big', { from: 5, amount: coins * COIN, term: 100 })
      const [payment] = (await paidTogether(market, 1, [big])) as [TestPayment]
      expect(await market.settle(payment)).toMatchObject(delivered)
      expect(market.escrow(big)).toBeDefined()
    })
  }

  it('of any size that is refused does not make other calls wait either', async () => {
    const market = await sellingAt(2_000n)
    const big = await market.order('ok:big', { from: 5, amount: 4_000n * COIN, term: 100 })
    const [payment] = (await paidTogether(market, 1, [big])) as [TestPayment]
    expect(await market.settle(big)).toMatchObject({ ok: false, fault: { code: 'pay/mismatch' } })
    expect(await market.settle(payment)).toMatchObject(delivered)
  })
})

describe('calls of one block that were redeemed', () => {
  it('make the next one wait once their sum needs six confirmations', async () => {
    const market = await sellingAt(SIX / 4n)
    const payments = await paidTogether(market, 5)
    for (const payment of payments.slice(0, 3)) expect(await market.settle(payment)).toMatchObject(delivered)
    const [fourth, fifth] = payments.slice(3) as [TestPayment, TestPayment]
    expect(await market.settle(fourth)).toEqual(unconfirmed(fourth, 1, 6))
    for (let i = 0; i < 4; i++) await market.mine()
    expect(await market.settle(fifth)).toEqual(unconfirmed(fifth, 5, 6))
    await market.mine()
    expect(await market.settle(fourth)).toMatchObject(delivered)
    expect(await market.settle(fifth)).toMatchObject(delivered)
  })

  it('count only in their own block', async () => {
    const market = await sellingAt(SIX / 2n)
    for (let i = 0; i < 3; i++) {
      const [first, second] = (await paidTogether(market, 2)) as [TestPayment, TestPayment]
      expect(await market.settle(first)).toMatchObject(delivered)
      expect(await market.settle(second)).toEqual(unconfirmed(second, 1, 6))
    }
  })

  it('count once, however often they are repeated', async () => {
    const market = await sellingAt(SIX / 2n - 1n)
    const [first, second] = (await paidTogether(market, 2)) as [TestPayment, TestPayment]
    for (let i = 0; i < 5; i++) expect(await market.settle(first)).toMatchObject(delivered)
    expect(await market.settle(second)).toMatchObject(delivered)
  })

  it('count while their work is under way, even when all come at once', async () => {
    const market = await sellingAt(SIX / 4n)
    const payments = await paidTogether(market, 8)
    const answers = await Promise.all(payments.map((payment) => market.settle(payment)))
    // The claims are read at the same time, so the store decides which come first.
    const refused = answers.flatMap((answer, i) => (answer.ok ? [] : [[answer, payments[i] as TestPayment] as const]))
    expect([answers.length - refused.length, market.workbench.begun.length]).toEqual([3, 3])
    for (const [answer, payment] of refused) expect(answer).toEqual(unconfirmed(payment, 1, 6))
  })

  it('count after a restart, until they are settled for good', async () => {
    const market = await sellingAt(SIX / 2n)
    const [first, second] = (await paidTogether(market, 2)) as [TestPayment, TestPayment]
    expect(await market.settle(first)).toMatchObject(delivered)
    const next = await market.restart()
    await next.till.resume()
    expect(await next.settle(second)).toEqual(unconfirmed(second, 1, 6))
  })

  it('that failed count as well: the caller could have had the refund and the payment', async () => {
    const market = await sellingAt(SIX / 2n)
    const payments = [await market.order('fail'), await market.order('ok')] as const
    await market.mine(payments.map(({ tx }) => tx))
    expect(await market.settle(payments[0])).toMatchObject({ ok: true, value: { claim: { state: 'failed' } } })
    expect(await market.settle(payments[1])).toEqual(unconfirmed(payments[1], 1, 6))
  })
})

describe('one call', () => {
  for (const [priceUsdMicros, needed] of [
    [SIX - 1n, 1],
    [SIX, 6],
    [FORTY - 1n, 6],
    [FORTY, 40],
  ] as const) {
    it(`of ${priceUsdMicros} millionths of a dollar wants ${needed} confirmations`, async () => {
      const market = await sellingAt(priceUsdMicros)
      const [payment] = (await paidTogether(market, 1)) as [TestPayment]
      for (let confirmations = 1; confirmations < needed; confirmations++) {
        expect(await market.settle(payment)).toEqual(unconfirmed(payment, confirmations, needed))
        await market.mine()
      }
      expect(await market.settle(payment)).toMatchObject(delivered)
    })
  }

  it('is refused, not kept waiting, if its deadline would be too near by then', async () => {
    const market = await sellingAt(FORTY)
    // Work takes ten blocks and the receipt forty, so work must begin fifty blocks before the deadline.
    const payment = await market.pay('ok', { term: 100 })
    const deadline = market.escrow(payment)!.deadline
    expect(await market.settle(payment)).toEqual(unconfirmed(payment, 1, 40))
    await market.test.mineTo(deadline - 10 - 40)
    expect(await market.settle(payment)).toMatchObject(delivered)
    const late = await market.pay('ok:late', { term: 100 })
    await market.test.mineTo(market.escrow(late)!.deadline - 10 - 40 + 1)
    expect(await market.settle(late)).toEqual({
      ok: false,
      fault: { code: 'pay/too-late', detail: { txId: late.txId, deadline: market.escrow(late)!.deadline } },
    })
  })
})

it('calls that waited for their block together count like those that came after it', async () => {
  const market = await TestMarket.open({ prices: { [ONCE]: 60_000n, [AGAIN]: 60_000n } })
  const orders: TestPayment[] = []
  for (let i = 0; i < 5; i++) orders.push(await market.order(`ok:${i}`, { from: 3 + i }))
  for (const { tx } of orders) await market.submit(tx)
  const calls = orders.map((order) => market.settle(order))
  await market.quiet()
  await market.mine(orders.map(({ tx }) => tx))
  await market.quiet()
  // Six cents need one confirmation, twelve need six.
  expect(market.workbench.begun.length).toBe(1)
  await market.pass(40_000)
  const answers = await Promise.all(calls)
  expect(answers.filter(({ ok }) => ok).length).toBe(1)
})
