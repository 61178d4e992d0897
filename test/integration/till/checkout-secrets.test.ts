import { afterEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import { openerOf } from '../../../consensus/tx/redeem-lock.ts'
import { closeMarkets, TestMarket, type TestPayment } from '../../support/market.ts'

afterEach(closeMarkets)

const OTHER_SECRET = new Uint8Array(32).fill(7)
const missing = ({ txId }: TestPayment): { ok: false; fault: Fault } => ({
  ok: false,
  fault: { code: 'pay/secret-missing', detail: { txId } },
})

const WRONG = { ok: false, fault: { code: 'pay/mismatch', detail: { field: 'payment.secret', got: 'another secret' } } }

describe('a payment that commits to its request without a lock', () => {
  it('is redeemed only with its secret', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok', { lock: 'commitment' })
    expect(await market.settle(payment, { secret: null })).toEqual(missing(payment))
    expect(await market.settle(payment, { secret: OTHER_SECRET })).toMatchObject({
      fault: { code: 'pay/mismatch', detail: { field: 'the request', got: 'another request' } },
    })
    expect(market.workbench.begun).toEqual([])
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { replayed: false } })
    expect(await market.store.get(payment.txId)).toMatchObject({ opener: openerOf(payment.secret as Uint8Array) })
  })

  it('does not give its result to others who repeat the call', async () => {
    const market = await TestMarket.open()
    const { payment, answer } = await market.buy('ok', { lock: 'commitment' })
    expect(answer).toMatchObject({ ok: true })
    expect(await market.settle(payment, { secret: null })).toEqual(missing(payment))
    expect(await market.settle(payment, { secret: OTHER_SECRET })).toMatchObject(WRONG)
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { replayed: true } })
  })

  it('does not give it to others after a restart', async () => {
    const market = await TestMarket.open()
    const { payment } = await market.buy('ok', { lock: 'commitment' })
    const next = await market.restart()
    await next.till.resume()
    expect(await next.settle(payment, { secret: null })).toEqual(missing(payment))
    expect(await next.settle(payment)).toMatchObject({ ok: true, value: { replayed: true } })
  })

  it('does not let others wait for the work', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok', { lock: 'commitment' })
    market.workbench.hold()
    const answer = market.settle(payment)
    await market.quiet()
    expect(await market.settle(payment, { secret: null })).toEqual(missing(payment))
    market.workbench.release()
    expect(await answer).toMatchObject({ ok: true })
  })

  it('is closed by a receipt like any other', async () => {
    const market = await TestMarket.open()
    const { payment } = await market.buy('ok', { lock: 'commitment' })
    await market.pass(500)
    await market.mineWaiting()
    expect(market.closure(payment)).toMatchObject({ how: 'delivered' })
  })
})

describe('a payment with a lock', () => {
  it('gives its result only with the secret, before and after it is redeemed', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    const strangers = [null, OTHER_SECRET]
    expect(await market.settle(payment, { secret: null })).toEqual(missing(payment))
    expect(await market.settle(payment, { secret: OTHER_SECRET })).toMatchObject({
      fault: { code: 'pay/mismatch', detail: { field: 'payment.secret' } },
    })
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { replayed: false } })
    for (const secret of strangers)
      expect(await market.settle(payment, { secret })).toMatchObject(secret === null ? missing(payment) : WRONG)
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { replayed: true } })
  })

  it('is bound to its request: another one is refused before and after', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    expect(await market.settle(payment, { request: 'ok:other' })).toMatchObject({
      fault: { code: 'pay/mismatch', detail: { field: 'the request' } },
    })
    await market.settle(payment)
    expect(await market.settle(payment, { request: 'ok:other' })).toEqual({
      ok: false,
      fault: {
        code: 'pay/already-redeemed',
        detail: {
          txId: payment.txId,
          serviceId: payment.serviceId,
          redeemedAt: new Date(market.time.nowMs).toISOString(),
        },
      },
    })
    expect(market.workbench.begun.length).toBe(1)
  })
})

describe('a plain payment', () => {
  it('is redeemed by the first caller, and repeated by every caller that knows it', async () => {
    const market = await TestMarket.open()
    const { payment, answer } = await market.buy('ok', { lock: 'none' })
    expect(answer).toMatchObject({ ok: true, value: { claim: { opener: null } } })
    expect(await market.settle(payment, { secret: OTHER_SECRET })).toMatchObject({
      ok: true,
      value: { replayed: true },
    })
  })
})
