import { afterEach, describe, expect, it } from 'vitest'
import { AGAIN, closeMarkets, TestMarket, type TestPayment } from '../../support/market.ts'

const BYTES_MAX = 40_000
/** Text of a result that is almost as long as results of the test services may be. */
const LARGE = 'x'.repeat(9_900)

afterEach(closeMarkets)

/** Buys a large result from each of these wallets. None is read to its end. */
async function flood(market: TestMarket, wallets: readonly number[]): Promise<void> {
  for (const [i, from] of wallets.entries()) {
    const { answer } = await market.buy(`ok:${i}${LARGE}`, { from, serviceId: AGAIN })
    expect(answer).toMatchObject({ ok: true, value: { replayed: false } })
  }
}

/** Buys a result and reads it to its end. */
async function buyAndRead(market: TestMarket, request: string): Promise<TestPayment> {
  const { payment, answer } = await market.buy(request, { serviceId: AGAIN })
  if (!answer.ok) throw new Error(answer.fault.code)
  await market.till.handedOver(answer.value.claim)
  return payment
}

/** Repeats a call. Returns `replayed` or the code of the refusal. */
async function repeated(market: TestMarket, payment: TestPayment): Promise<string> {
  const answer = await market.settle(payment)
  return answer.ok ? 'replayed' : answer.fault.code
}

describe('a payer who fills the kept results with large ones', () => {
  it.each([
    ['from one address', new Array(8).fill(3) as number[]],
    ['from many addresses', [3, 4, 5, 6, 7, 8, 3, 4, 5, 6, 7, 8]],
  ])('%s removes neither what another has not had yet nor what it may ask for again', async (_, wallets) => {
    const market = await TestMarket.open()
    const read = await buyAndRead(market, 'ok:read')
    const { payment: unread } = await market.buy('ok:unread', { serviceId: AGAIN })
    market.time.nowMs += 1_000
    await flood(market, wallets)
    expect(await market.store.pruneResults(0, BYTES_MAX)).toBe(wallets.length - 4)
    expect(await repeated(market, unread)).toBe('replayed')
    expect(await repeated(market, read)).toBe('replayed')
  })

  it('does not remove an unread result of the same size while there are results that were read', async () => {
    const market = await TestMarket.open()
    const { payment: unread } = await market.buy(`ok:unread${LARGE}`, { serviceId: AGAIN })
    market.time.nowMs += 1_000
    const read = [await buyAndRead(market, `ok:first${LARGE}`), await buyAndRead(market, `ok:second${LARGE}`)]
    expect(await market.store.pruneResults(0, 11_000)).toBe(2)
    expect(await repeated(market, unread)).toBe('replayed')
    expect(await repeated(market, read[1] as TestPayment)).toBe('pay/result-expired')
  })

  it('loses results before a payer that bought only one of the same size and price', async () => {
    const market = await TestMarket.open()
    const { payment: mine } = await market.buy('ok:mine', { serviceId: AGAIN })
    market.time.nowMs += 1_000
    for (let i = 0; i < 40; i++) await market.buy(`ok:no${10 + i}`, { from: 3, serviceId: AGAIN })
    expect(await market.store.pruneResults(0, 500)).toBeGreaterThan(0)
    expect(await repeated(market, mine)).toBe('replayed')
  })
})
