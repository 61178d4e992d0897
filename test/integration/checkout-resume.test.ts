import { afterEach, describe, expect, it } from 'vitest'
import { wallet } from '../support/chain.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket, type TestPayment } from '../support/market.ts'
import { TEST_SERVICES } from '../support/test-services.ts'

afterEach(closeMarkets)

/** A market that died with so many calls begun, and what stood in the store then. */
async function crashed(count: number, serviceId: string): Promise<{ dead: TestMarket; payments: TestPayment[] }> {
  const dead = await TestMarket.open()
  const payments: TestPayment[] = []
  for (let i = 0; i < count; i++) payments.push(await dead.order(`ok:${i}`, { serviceId }))
  await dead.mine(payments.map(({ tx }) => tx))
  dead.workbench.hold()
  for (const payment of payments) void dead.settle(payment)
  await dead.quiet()
  return { dead, payments }
}

/** States of claims. */
function statesOf(market: TestMarket, payments: readonly TestPayment[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(payments.map(async ({ txId }) => (await market.store.get(txId))?.state))
}

/** How often something is in a list. */
function countOf(list: readonly unknown[], one: unknown): number {
  return list.filter((each) => each === one).length
}

describe('taking up what a crash interrupted', () => {
  it('does not wait for the work, and does at most sixteen at once, each once', async () => {
    const { dead, payments } = await crashed(40, AGAIN)
    const market = await dead.restart()
    market.workbench.hold()
    await market.checkout.resume()
    await market.quiet()
    expect([market.workbench.begun.length, market.checkout.runningCount]).toEqual([16, 40])
    market.workbench.release(3)
    await market.quiet()
    expect([market.workbench.begun.length, market.checkout.runningCount]).toEqual([19, 37])
    market.workbench.release()
    await market.quiet()
    expect(market.checkout.runningCount).toBe(0)
    expect([...market.workbench.begun].sort()).toEqual(payments.map(({ request }) => `${AGAIN} ${request}`).sort())
    expect(await statesOf(market, payments)).toEqual(payments.map(() => 'delivered'))
    expect(market.settler.owedCount).toBe(40)
  })

  it('serves new calls beside it, behind the work that waits', async () => {
    const { dead } = await crashed(16, AGAIN)
    const market = await dead.restart()
    market.workbench.hold()
    await market.checkout.resume()
    const payment = await market.pay('ok:new')
    const answer = market.settle(payment)
    await market.quiet()
    expect(market.workbench.begun.length).toBe(16)
    market.workbench.release()
    expect(await answer).toMatchObject({
      ok: true,
      value: { claim: { state: 'delivered', result: '{"echo":"ok:new"}' } },
    })
  })

  it('begins nothing twice that must not be repeated, and gives it back', async () => {
    const { dead, payments } = await crashed(20, ONCE)
    // Four had not begun: they waited for their turn.
    expect(countOf(await statesOf(dead, payments), 'claimed')).toBe(4)
    const market = await dead.restart()
    await market.checkout.resume()
    await market.quiet()
    const states = await statesOf(market, payments)
    expect([countOf(states, 'failed'), countOf(states, 'delivered')]).toEqual([16, 4])
    expect(market.workbench.begun.length).toBe(4)
    const caller = wallet(1).address
    const before = market.test.balance(caller)
    await market.pass(500)
    await market.mineWaiting()
    expect(
      countOf(
        payments.map((payment) => market.closure(payment)?.how),
        'failed',
      ),
    ).toBe(16)
    expect(
      countOf(
        payments.map((payment) => market.closure(payment)?.how),
        'delivered',
      ),
    ).toBe(4)
    expect(market.test.balance(caller)).toBe(before + 16n * market.priceOf(ONCE))
  })

  it('lets a repeat of an interrupted call wait for its work', async () => {
    const { dead, payments } = await crashed(1, AGAIN)
    const market = await dead.restart()
    market.workbench.hold()
    await market.checkout.resume()
    const repeat = market.settle(payments[0]!)
    await market.quiet()
    market.workbench.release()
    expect(await repeat).toMatchObject({ ok: true, value: { replayed: true, claim: { result: '{"echo":"ok:0"}' } } })
    expect(market.workbench.begun).toEqual([`${AGAIN} ok:0`])
  })

  it('leaves what is settled alone', async () => {
    const market = await TestMarket.open()
    const { payment } = await market.buy('ok')
    await market.pass(500)
    await market.mineWaiting()
    for (let i = 0; i < 41; i++) await market.mine()
    const next = await market.restart()
    await next.checkout.resume()
    await next.quiet()
    expect([next.settler.owedCount, next.checkout.runningCount, next.workbench.begun]).toEqual([0, 0, []])
    expect(await next.store.get(payment.txId)).toMatchObject({ state: 'delivered', settlement: 'final' })
  })
})

describe('an interrupted call whose deadline is near', () => {
  /** Blocks before the deadline until which work may begin: its time limit, and forty for the receipt. */
  const LAST_CHANCE = 10 + 40

  for (const [blocks, end, begun] of [
    [LAST_CHANCE, 'delivered', 1],
    [LAST_CHANCE - 1, 'failed', 0],
    [1, 'failed', 0],
  ] as const) {
    it(`is ${end} when ${blocks} blocks are left`, async () => {
      const { dead, payments } = await crashed(1, AGAIN)
      const [payment] = payments as [TestPayment]
      const { deadline } = dead.escrow(payment)!
      await dead.test.mineTo(deadline - blocks)
      const market = await dead.restart()
      await market.checkout.resume()
      await market.quiet()
      expect(await market.store.get(payment.txId)).toMatchObject({
        state: end,
        ...(end === 'failed' ? { reason: 'service/too-late' } : {}),
      })
      expect(market.workbench.begun.length).toBe(begun)
      await market.pass(500)
      // The last block before the deadline may hold the receipt; at the deadline consensus needs none.
      if (blocks === 1) return
      await market.mineWaiting()
      expect(market.closure(payment)).toMatchObject({ how: end })
    })
  }

  it('does no work where consensus has refunded it already', async () => {
    const { dead, payments } = await crashed(1, AGAIN)
    const [payment] = payments as [TestPayment]
    await dead.test.mineTo(dead.escrow(payment)!.deadline)
    expect(dead.closure(payment)).toMatchObject({ how: 'expired' })
    const market = await dead.restart()
    await market.checkout.resume()
    await market.pass(500)
    expect(await market.store.get(payment.txId)).toMatchObject({ state: 'failed', reason: 'service/too-late' })
    expect([market.workbench.begun, market.waitingEntries]).toEqual([[], []])
  })

  it('is judged when its turn comes, not when the node starts', async () => {
    const { dead, payments } = await crashed(17, AGAIN)
    const { deadline } = dead.escrow(payments[0]!)!
    await dead.test.mineTo(deadline - LAST_CHANCE)
    const market = await dead.restart()
    market.workbench.hold()
    await market.checkout.resume()
    await market.quiet()
    await market.mine()
    market.workbench.release()
    await market.quiet()
    const states = await statesOf(market, payments)
    expect([countOf(states, 'delivered'), countOf(states, 'failed')]).toEqual([16, 1])
    expect(market.workbench.begun.length).toBe(16)
  })
})

describe('an interrupted call of a service that is not sold any more', () => {
  for (const serviceId of [AGAIN, ONCE]) {
    it(`goes back (${serviceId})`, async () => {
      const { dead, payments } = await crashed(1, serviceId)
      const others = TEST_SERVICES.filter((definition) => definition.serviceId !== serviceId)
      const market = await dead.restart({ services: others })
      await market.checkout.resume()
      await market.quiet()
      expect(await market.store.get(payments[0]!.txId)).toMatchObject({
        state: 'failed',
        reason: 'service/interrupted',
      })
      await market.pass(500)
      await market.mineWaiting()
      expect(market.closure(payments[0]!)).toMatchObject({ how: 'failed' })
      expect(market.workbench.begun).toEqual([])
    })
  }

  it('goes back where the service reads requests otherwise now', async () => {
    const { dead, payments } = await crashed(1, AGAIN)
    const shorter = TEST_SERVICES.map((definition) => ({ ...definition, requestCharsMax: 3 }))
    const market = await dead.restart({ services: shorter })
    await market.checkout.resume()
    await market.quiet()
    expect(await market.store.get(payments[0]!.txId)).toMatchObject({ state: 'failed', reason: 'service/interrupted' })
  })
})
