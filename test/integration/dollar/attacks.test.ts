import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { DollarPayment } from '../../../marketplace/till/rails/dollar/claim.ts'
import { readDollarPayment } from '../../../marketplace/till/rails/dollar/payment.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { closeRails, newPayer, type Payer, PRICE, paymentOf, storeWith, TERMS, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets, ONCE } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import type { Said } from '../../support/stable-token.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

function saidOf({ authorization }: DollarPayment): Said {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  return { from, to, nonce, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` }
}

describe('a payer who uses the nonce of its payment for something else while the service works', () => {
  it.each([
    ['a smaller payment to us', { value: 1n }],
    ['a payment to itself beside a small one', { to: newPayer().address }],
  ])('%s: no result', async (_, change) => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    const payment = paymentOf(payer)
    const other = paymentOf(payer, { ...change, nonce: payment.authorization.nonce })
    rail.market.workbench.hold()
    const outcome = rail.codeOf(rail.order('ok', { payment }))
    await rail.reaches('executing')
    expect(rail.token.transfer(saidOf(other), other.authorization.signature)).toHaveProperty('transaction')
    rail.market.workbench.release()
    expect(await outcome).toBe('stable/refused')
    expect((await rail.claim())?.state).toBe('unpaid')
    expect(rail.income).toBeLessThan(PRICE)
  })
})

describe('a payload that says more than an authorization', () => {
  const envelope = (payload: object): object => ({ ...paymentOf(newPayer()).payload, payload })

  it('is refused: a facilitator could read it as another payment than we do', () => {
    const { payload } = paymentOf(newPayer()).payload as { payload: object }
    expect(readDollarPayment(envelope(payload), 'x', TERMS).ok).toBe(true)
    const read = readDollarPayment(envelope({ ...payload, permit2Authorization: {} }), 'x', TERMS)
    expect(read).toMatchObject({ ok: false, fault: { code: 'pay/unreadable' } })
  })

  it.each([
    ['deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['long', JSON.stringify('x'.repeat(20_000))],
  ])('is refused where it is too %s to be kept and passed on', (_, text) => {
    const more = JSON.parse(text) as unknown
    const read = readDollarPayment({ ...paymentOf(newPayer()).payload, more }, 'x', TERMS)
    expect(read).toMatchObject({ ok: false, fault: { code: 'pay/unreadable' } })
  })
})

describe('results that are not kept for ever', () => {
  it('are not charged if they are gone before the money moves', async () => {
    const rail = await TestRail.open()
    rail.facilitator.settleProfile = 'deaf'
    expect(await rail.codeOf(rail.order())).toBe('stable/unsettled')
    expect(await rail.store.pruneResults(0, 0)).toBe(1)
    rail.facilitator.settleProfile = null
    await rail.reaches('unpaid')
    expect(rail.income).toBe(0n)
  })

  it('are owed back if they are gone when the money turns out to have moved', async () => {
    const rail = await TestRail.open()
    rail.facilitator.settleProfile = 'lost'
    expect(await rail.codeOf(rail.order())).toBe('stable/unsettled')
    await rail.store.pruneResults(0, 0)
    rail.facilitator.settleProfile = null
    await rail.reaches('owed')
  })
})

describe('an idempotency key of a payer', () => {
  it('cannot be taken by a caller who cannot sign for the payer', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    const call = rail.order('ok', { payment: paymentOf(payer), idempotencyKey: 'order-1' })
    expect(await rail.codeOf(call)).toBe('settled')
    expect(await rail.codeOf({ ...call, payment: forged(payer) })).toBe('stable/key-used')
    expect(await rail.codeOf({ ...call, payment: paymentOf(payer) })).toBe('replayed')
    expect(rail.income).toBe(PRICE)
  })

  it('keeps the answer from a caller who only saw the authorization, even before it was delivered', async () => {
    const rail = await TestRail.open()
    const call = rail.order('slow:300', { idempotencyKey: 'order-1' })
    const thief = { ...call, idempotencyKey: null }
    const outcome = rail.codeOf(call)
    await rail.reaches('executing')
    expect(await rail.codeOf(thief)).toBe('stable/under-way')
    expect(await outcome).toBe('settled')
    expect(await rail.codeOf(thief)).toBe('stable/delivered')
    expect(await rail.codeOf({ ...thief, idempotencyKey: 'order-2' })).toBe('stable/delivered')
    expect(await rail.codeOf(call)).toBe('replayed')
  })

  it('is charged once if its first settlement was refused and a later one was not', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    const call = rail.order('ok', { payment: paymentOf(payer), idempotencyKey: 'order-1' })
    rail.facilitator.settleProfile = 'lying'
    expect(await rail.codeOf(call)).toBe('stable/refused')
    rail.facilitator.settleProfile = null
    rail.facilitator.delayMs = 300
    const settled = rail.codeOf(call)
    await rail.reaches('settling')
    const again = (): Promise<string> => rail.codeOf({ ...call, payment: paymentOf(payer) })
    expect(await again()).toBe('stable/unsettled')
    expect([await settled, await again(), rail.runs, rail.income]).toEqual(['settled', 'replayed', 1, PRICE])
  })

  it('is charged once if another party carried a refused settlement out', async () => {
    const rail = await TestRail.open({ timers: { after: (ms, end) => systemTimers.after(ms / 500, end) } })
    const payer = rail.payer()
    const call = rail.order('ok', { payment: paymentOf(payer), idempotencyKey: 'order-1' })
    rail.facilitator.settleProfile = 'lying'
    expect(await rail.codeOf(call)).toBe('stable/refused')
    rail.facilitator.settleProfile = null
    expect(rail.token.transfer(saidOf(call.payment), call.payment.authorization.signature)).toHaveProperty(
      'transaction',
    )
    // The claim is on disk a moment before the rail counts it.
    await until('it is a sale', () => rail.dollar.sales(AGAIN).calls === 1)
    expect(await rail.codeOf({ ...call, payment: paymentOf(payer) })).toBe('replayed')
    expect([rail.runs, rail.income]).toEqual([1, PRICE])
  })

  it('is known right after a crash, while the past is still being read', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    const call = rail.order('ok', { payment: paymentOf(payer), idempotencyKey: 'order-1' })
    expect(await rail.codeOf(call)).toBe('settled')
    let pages = 0
    const again = await rail.restart({
      // A store that lists slowly: the first page comes late, further pages never.
      wrapStore: (store) => {
        const recent = async (...asked: Parameters<typeof store.recent>) => {
          await setTimeout(500)
          return ++pages > 1 ? new Promise<never>(() => {}) : store.recent(...asked)
        }
        return storeWith(store, { recent })
      },
    })
    expect(await again.codeOf({ ...call, payment: paymentOf(payer) })).toBe('replayed')
    expect(again.income).toBe(PRICE)
  })

  it('is charged once if two authorizations come with it at once', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    const call = rail.order('ok', { payment: paymentOf(payer), idempotencyKey: 'order-1' })
    const codes = await Promise.all([rail.codeOf(call), rail.codeOf({ ...call, payment: paymentOf(payer) })])
    expect(codes).toEqual(['settled', 'stable/under-way'])
    expect([rail.runs, rail.income]).toEqual([1, PRICE])
  })
})

describe('places for work', () => {
  it('are not taken from a payer by forged signatures', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    rail.facilitator.delayMs = 1_000
    const crowd = Promise.all(
      Array.from({ length: 80 }, () => rail.codeOf(rail.order('ok', { payment: forged(payer) }))),
    )
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(payer) }))).toBe('settled')
    // The chain says that the payer is not a contract. The other calls are too many at once, or exceed the limit of questions.
    expect(new Set(await crowd)).toEqual(new Set(['stable/refused', 'stable/unproven', 'service/unavailable']))
    expect(rail.facilitator.count('/verify')).toBe(1)
    expect(rail.runs).toBe(1)
  })
})

describe('settings that an operator changes between two starts', () => {
  it('do not lose payments to the old address', async () => {
    const rail = await TestRail.open()
    const call = rail.order()
    rail.facilitator.settleProfile = 'lost'
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    const again = await rail.restart({ terms: { payTo: '0x1111111111111111111111111111111111111111' } })
    await again.reaches('settled')
    expect(await again.codeOf(call)).toBe('replayed')
  })

  it('do not refund on one network what was paid on another', async () => {
    const rail = await TestRail.open()
    const call = rail.order('fail', { serviceId: ONCE })
    expect(await rail.codeOf(call)).toBe('service/failed')
    expect(rail.token.transfer(saidOf(call.payment), call.payment.authorization.signature)).toHaveProperty(
      'transaction',
    )
    const elsewhere = await rail.restart({ terms: { network: { word: 'base', caip2: 'eip155:8453', chainId: 8453 } } })
    expect([elsewhere.dollar.figures.refundsOwed, (await elsewhere.claim())?.state]).toEqual([0, 'unpaid'])
    expect(await elsewhere.store.open()).toHaveLength(1)
    const home = await elsewhere.restart({ terms: {} })
    await home.reaches('owed')
  })
})

describe('an unpaid payment that is offered again as the node crashes', () => {
  it('is still watched: if it is carried out meanwhile, it is owed back', async () => {
    const rail = await TestRail.open()
    const call = rail.order('fail')
    expect(await rail.codeOf(call)).toBe('service/failed')
    rail.facilitator.profile = 'mute'
    void rail.codeOf(call)
    await rail.reaches('claimed')
    const { authorization } = call.payment
    expect(rail.token.transfer(saidOf(call.payment), authorization.signature)).toHaveProperty('transaction')
    const again = await rail.restart()
    again.facilitator.profile = 'good'
    const claim = await again.reaches('owed')
    expect(claim).toMatchObject({ reason: 'service/failed', payer: authorization.from })
  })
})

describe('an authorization that has expired', () => {
  it('leaves neither request nor payment behind, and is refused as before', async () => {
    const rail = await TestRail.open()
    const call = rail.order('fail', { serviceId: ONCE })
    expect(await rail.codeOf(call)).toBe('service/failed')
    const { from, nonce } = call.payment.authorization
    rail.token.cancel(from, nonce)
    const again = await rail.restart()
    const claim = await until('it is over', async () => {
      const known = await again.claim()
      return known?.state === 'unpaid' && known.over ? known : null
    })
    expect(claim).toMatchObject({ request: '', payload: {} })
    expect(await again.codeOf(call)).toBe('service/failed')
    expect(await again.codeOf({ ...call, request: 'ok' })).toBe('stable/used')
  })
})

/** A payment in a payer's name with a made-up signature. */
function forged(payer: Payer): DollarPayment {
  const payment = paymentOf(payer)
  const signature = `0x${'12'.repeat(64)}1b`
  const { payload } = payment.payload as { payload: object }
  const authorization = { ...payment.authorization, signature }
  return { ...payment, authorization, payload: { ...payment.payload, payload: { ...payload, signature } } }
}
