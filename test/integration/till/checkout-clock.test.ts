import { afterEach, describe, expect, it } from 'vitest'
import type { FinishedClaim } from '../../../marketplace/till/rails/native/claim.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket, type TestPayment } from '../../support/market.ts'

const HOUR_MS = 3_600_000

afterEach(closeMarkets)

/** Settles a payment, and returns its claim. */
async function settled(market: TestMarket, payment: TestPayment): Promise<FinishedClaim> {
  const answer = await market.settle(payment)
  if (!answer.ok) throw new Error(JSON.stringify(answer.fault))
  return answer.value.claim
}

/** Lets the receipt of a call be sent and mined, and returns how the chain says the escrow ended. */
async function closureAfter(market: TestMarket, payment: TestPayment) {
  await market.pass(500)
  await market.mineWaiting()
  return market.closure(payment)
}

/** A market that crashed while it worked on a call. Its clock was an hour ahead until then. */
async function crashedAhead(serviceId: string): Promise<{ market: TestMarket; payment: TestPayment }> {
  const market = await TestMarket.open()
  const payment = await market.pay('ok', { serviceId })
  market.workbench.hold()
  market.time.nowMs += HOUR_MS
  void market.settle(payment)
  await market.quiet()
  expect(await market.store.get(payment.txId)).toMatchObject({
    state: 'executing',
    startedAtMs: market.time.nowMs,
  })
  return { market: await market.restart(), payment }
}

describe('a clock that is set back during a call', () => {
  it('gives the call a duration of zero, and its receipt is posted', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    market.workbench.onWork = () => {
      market.time.nowMs -= HOUR_MS
    }
    expect(await settled(market, payment)).toMatchObject({ state: 'delivered', durationMs: 0 })
    expect(await closureAfter(market, payment)).toMatchObject({ how: 'delivered', durationMs: 0 })
  })

  it('does the same to a call that fails', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('fail')
    market.workbench.onWork = () => {
      market.time.nowMs -= HOUR_MS
    }
    expect(await settled(market, payment)).toMatchObject({ state: 'failed', reason: 'service/failed', durationMs: 0 })
    expect(await closureAfter(market, payment)).toMatchObject({ how: 'failed', durationMs: 0 })
  })

  it('does not delay receipts of other calls', async () => {
    const market = await TestMarket.open()
    const payments = [await market.order('ok:1'), await market.order('ok:2'), await market.order('ok:3')]
    await market.mine(payments.map(({ tx }) => tx))
    market.workbench.onWork = () => {
      market.time.nowMs += market.workbench.begun.length === 2 ? -HOUR_MS : 20
    }
    for (const payment of payments) await settled(market, payment)
    await market.pass(500)
    await market.mineWaiting()
    expect(payments.map((payment) => market.closure(payment)?.durationMs)).toEqual([20, 0, 20])
    expect(market.faults).toEqual([])
  })
})

describe('a clock that is set far forward during a call', () => {
  it('gives the receipt the longest possible duration', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    market.workbench.onWork = () => {
      market.time.nowMs += 60 * 24 * HOUR_MS
    }
    expect(await settled(market, payment)).toMatchObject({ durationMs: 60 * 24 * HOUR_MS })
    expect(await closureAfter(market, payment)).toMatchObject({ how: 'delivered', durationMs: 0xffffffff })
  })
})

describe('a clock that is set back between a crash and the next start', () => {
  it('refunds work that must not be repeated, without a duration', async () => {
    const { market, payment } = await crashedAhead(ONCE)
    await market.till.resume()
    await market.quiet()
    expect(await market.store.get(payment.txId)).toMatchObject({
      state: 'failed',
      reason: 'service/interrupted',
      durationMs: 0,
    })
    expect(await closureAfter(market, payment)).toMatchObject({ how: 'failed', durationMs: 0 })
    expect(market.workbench.begun).toEqual([])
  })

  it('repeats work that may be repeated', async () => {
    const { market, payment } = await crashedAhead(AGAIN)
    await market.till.resume()
    await market.quiet()
    expect(await market.store.get(payment.txId)).toMatchObject({ state: 'delivered', durationMs: 0 })
    expect(await closureAfter(market, payment)).toMatchObject({ how: 'delivered', durationMs: 0 })
  })

  it('does not stop the node from starting, however often', async () => {
    const { market: first, payment } = await crashedAhead(ONCE)
    await first.till.resume()
    await first.quiet()
    const second = await first.restart()
    await second.till.resume()
    const third = await second.restart()
    await third.till.resume()
    expect(third.settler.owedCount).toBe(1)
    expect(await closureAfter(third, payment)).toMatchObject({ how: 'failed' })
  })
})

describe('a stored claim with a duration that no receipt can hold', () => {
  for (const [durationMs, posted] of [
    [-5, 0],
    [-HOUR_MS, 0],
    [2 ** 40, 0xffffffff],
  ] as const) {
    it(`of ${durationMs} ms is settled with ${posted} ms, beside valid ones`, async () => {
      const market = await TestMarket.open()
      const payments = [await market.order('ok:1'), await market.order('ok:2')]
      await market.mine(payments.map(({ tx }) => tx))
      const claims = [await settled(market, payments[0]!), await settled(market, payments[1]!)]
      const broken = claims[0] as FinishedClaim
      expect(await market.store.advance(broken.state, { ...broken, durationMs })).toBe(true)
      // The node died before it sent the receipts, so only the store knows what is owed.
      const next = await market.restart()
      await next.till.resume()
      expect(await closureAfter(next, payments[0]!)).toMatchObject({ how: 'delivered', durationMs: posted })
      expect(next.closure(payments[1]!)).toMatchObject({ how: 'delivered', durationMs: 0 })
      expect(next.faults).toEqual([])
    })
  }
})
