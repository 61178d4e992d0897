import { afterEach, describe, expect, it } from 'vitest'
import { Registrar } from '../../../marketplace/till/rails/native/registrar.ts'
import { closeMarkets, ONCE, type TestMarket, type TestPayment } from '../../support/market.ts'
import { closeStores, Partition } from '../../support/partition.ts'

afterEach(async () => {
  await closeMarkets()
  await closeStores()
})

/** At this price, four calls in one block need six confirmations, three need one. */
const QUARTER = 25_000n

const unconfirmed = ({ txId }: TestPayment, confirmations: number) => ({
  ok: false,
  fault: { code: 'pay/unconfirmed', detail: { txId, confirmations, needed: 6 } },
})
const delivered = { ok: true, value: { claim: { state: 'delivered' } } }

function selling(): Promise<Partition> {
  return Partition.open({ prices: { [ONCE]: QUARTER }, settings: { settleWaitMs: 0 } })
}

async function orders(market: TestMarket, count: number): Promise<TestPayment[]> {
  const payments: TestPayment[] = []
  for (let i = 0; i < count; i++) payments.push(await market.order(`ok:${i}`))
  return payments
}

describe('confirmations by value after a reorganisation', () => {
  it('count calls in the block that has their payment now', async () => {
    const halves = await selling()
    const { market } = halves
    const payments = await orders(market, 5)
    const [first, second, third, fourth, fifth] = payments as [
      ...[TestPayment, TestPayment, TestPayment, TestPayment, TestPayment],
    ]
    // Each of the first three payments was alone in its block when it was taken.
    await halves.growOurs(3, { 1: [first.tx], 2: [second.tx], 3: [third.tx] })
    for (const payment of [first, second, third]) expect(await market.settle(payment)).toMatchObject(delivered)
    await halves.growTheirs(4, { 4: [first.tx, second.tx, third.tx, fourth.tx] })
    await halves.heal()
    expect(await market.settle(fourth)).toEqual(unconfirmed(fourth, 1))
    // A block with a single payment still needs one confirmation only.
    await market.mine([fifth.tx])
    expect(await market.settle(fifth)).toMatchObject(delivered)
    expect(await market.settle(fourth)).toEqual(unconfirmed(fourth, 2))
    for (let i = 0; i < 4; i++) await market.mine()
    expect(await market.settle(fourth)).toMatchObject(delivered)
    for (const payment of payments) expect(halves.runsOf(payment)).toBe(1)
  })

  it('count a payment that was off chain in the block that mines it again', async () => {
    const halves = await selling()
    const { market } = halves
    const [first, second, third, fourth] = (await orders(market, 4)) as [
      ...[TestPayment, TestPayment, TestPayment, TestPayment],
    ]
    await halves.growOurs(3, { 1: [first.tx], 2: [second.tx], 3: [third.tx] })
    for (const payment of [first, second, third]) expect(await market.settle(payment)).toMatchObject(delivered)
    await halves.growTheirs(4)
    await halves.heal()
    expect(market.mempool.count).toBe(3)
    await market.submit(fourth.tx)
    await market.mineWaiting()
    expect([first, second, third, fourth].map((payment) => market.escrow(payment)?.minedAt)).toEqual(
      Array.from({ length: 4 }, () => market.test.height),
    )
    expect(await market.settle(fourth)).toEqual(unconfirmed(fourth, 1))
  })

  it('are asked for again for a claimed call that had not begun', async () => {
    const halves = await Partition.open({ prices: { [ONCE]: 4n * QUARTER }, settings: { settleWaitMs: 0 } })
    const { market } = halves
    const payments: TestPayment[] = []
    for (let from = 0; from < 17; from++) payments.push(await market.order(`ok:${from}`))
    await halves.growOurs(6, { 1: payments.map(({ tx }) => tx) })
    market.workbench.hold()
    const answers = payments.map((payment) => market.settle(payment))
    await market.quiet()
    // Which call got no slot depends on the store.
    const place = payments.findIndex((payment) => halves.runsOf(payment) === 0)
    const waiting = payments[place] as TestPayment
    expect([market.workbench.begun.length, await halves.claimOf(waiting)]).toEqual([16, ['claimed', undefined]])
    await halves.growTheirs(7, { 7: payments.map(({ tx }) => tx) })
    await halves.heal()
    market.workbench.release()
    for (const [i, answer] of answers.entries()) expect((await answer).ok).toBe(i !== place)
    for (let i = 0; i < 4; i++) await market.mine()
    expect(halves.runsOf(waiting)).toBe(0)
    await market.mine()
    expect(halves.runsOf(waiting)).toBe(1)
    expect(await market.settle(waiting)).toMatchObject(delivered)
    await halves.audit()
  })
})

describe.each([10, 100])('a registration that was mined only in the half that loses %i blocks', (depth) => {
  it('is mined again, and sales go on', async () => {
    const halves = await Partition.open({ published: false })
    const { market } = halves
    const { shop, sender } = market
    const registrar = new Registrar({
      chain: market.test.chain,
      shop,
      sender,
      onFault: (cause) => market.faults.push(cause),
    })
    const published = () => shop.availability(shop.offer(ONCE)!).available
    registrar.check()
    await market.quiet()
    await market.mineWaiting(3)
    expect(published()).toBe(true)
    await halves.growOurs(depth)
    await halves.growTheirs(depth + 1)
    await halves.heal()
    expect([published(), shop.agent]).toEqual([false, undefined])
    await market.quiet()
    await market.mineWaiting(3)
    expect(published()).toBe(true)
    const { payment, answer } = await market.buy('ok')
    expect(answer).toMatchObject(delivered)
    expect(halves.runsOf(payment)).toBe(1)
    expect(market.faults).toEqual([])
    await registrar.stop()
    await halves.audit()
  })
})
