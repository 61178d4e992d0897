import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../../support/api.ts'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import type { LocalFacilitator } from '../evm/facilitator.ts'
import { termsOf } from './payments.ts'
import { PRICE, Shop } from './shop.ts'

const workshop = new Workshop()
let shop: Shop
let backup: Shop

beforeAll(async () => {
  shop = await Shop.open(workshop)
  backup = await Shop.open(workshop, { facilitators: 2 })
})
afterEach(async () => {
  for (const { facilitators } of [shop, backup]) {
    for (const facilitator of facilitators) {
      facilitator.reset()
      if (!facilitator.isOpen) await facilitator.open()
    }
  }
  await shop.selling()
  await backup.selling()
})
afterAll(async () => {
  await shop?.close()
  await backup?.close()
})

describe('a facilitator that is down', () => {
  it('costs nothing, and the same payment works later', async () => {
    const call = await shop.order()
    await shop.facilitator.close()
    const refused = await shop.send(call)
    expect(refused).toMatchObject({ status: 503, body: { charged: false } })
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    expect(await shop.chain.uses(call.payer.address)).toEqual([])
    expect(shop.runs(call)).toBe(0)
    await shop.facilitator.open()
    expect(await shop.sendUntilKnown(call)).toMatchObject({ status: 200, body: { result: { echo: call.request } } })
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })

  it('leaves quotes and the native rail as they are', async () => {
    await shop.facilitator.close()
    const call = await shop.order().catch(() => null)
    if (call !== null) await shop.send(call)
    const quoted = await shop.quote('node-test-again', 'ok')
    expect(quoted.status).toBe(402)
    expect(termsOf(quoted).accepts.map(({ scheme }) => scheme)).toContain('native-x402')
  })

  it.each(['error', 'dropped'] as const)('the same where its verification ends in %s', async (trouble) => {
    const call = await shop.order()
    shop.facilitator.troubles.set('/verify', trouble)
    expect(await shop.send(call)).toMatchObject({ status: 503, body: { charged: false } })
    expect(shop.runs(call)).toBe(0)
    shop.facilitator.reset()
    expect((await shop.sendUntilKnown(call)).status).toBe(200)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })
})

describe('a facilitator that refuses', () => {
  it('at verification: nothing runs, and the payer is quoted anew', async () => {
    const call = await shop.order()
    shop.facilitator.troubles.set('/verify', 'refused')
    const reply = await shop.send(call)
    expect(reply).toMatchObject({ status: 402, body: { x402: true } })
    expect(reply.body.error).toContain('invalid_exact_evm_insufficient_balance')
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([0n, 0])
  })

  it('at settlement, having verified: not charged, and no result is given', async () => {
    const call = await shop.order()
    shop.facilitator.troubles.set('/settle', 'refused')
    const reply = await shop.sendUntilKnown(call)
    expect(reply.status).toBe(402)
    expect(reply.text).not.toContain('"result"')
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([0n, 1])
    expect(await shop.chain.uses(call.payer.address)).toEqual([])
    // A repeat of the payment does not make the service work again for nothing.
    const again = await shop.send(call)
    expect(again.status).toBeGreaterThanOrEqual(400)
    expect(again.text).not.toContain('"result"')
    expect(shop.runs(call)).toBe(1)
    // Once the payment succeeds, it buys the finished work.
    shop.facilitator.reset()
    expect(await shop.sendUntilKnown(call)).toMatchObject({ status: 200, body: { result: { echo: call.request } } })
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })
})

describe('a facilitator that is slow', () => {
  it('is waited for', async () => {
    const call = await shop.order()
    shop.facilitator.delaysMs.set('/verify', 1_000)
    shop.facilitator.delaysMs.set('/settle', 1_000)
    expect((await shop.sendUntilKnown(call)).status).toBe(200)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })

  it('is not waited for without end: nothing ran, nothing is charged, and later it works', async () => {
    const call = await shop.order()
    shop.facilitator.delaysMs.set('/verify', 20_000)
    expect(await shop.send(call)).toMatchObject({ status: 503, body: { charged: false } })
    expect(shop.runs(call)).toBe(0)
    shop.facilitator.reset()
    expect((await shop.sendUntilKnown(call)).status).toBe(200)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })
})

describe('a settlement whose answer is lost', () => {
  it.each(['cut', 'garbled'] as const)(
    'is found out: one charge, one run, the result in the end (%s)',
    async (trouble) => {
      const call = await shop.order()
      shop.facilitator.troubles.set('/settle', trouble)
      const first = await shop.send(call)
      // Either the result at once or a request to retry; never a quote, which would make the payer sign a second payment.
      expect([200, 503]).toContain(first.status)
      const known = first.status === 200 ? first : await shop.sendUntilKnown(call)
      expect(known).toMatchObject({ status: 200, body: { paid: true, result: { echo: call.request } } })
      expect(await shop.spent(call.payer)).toBe(PRICE)
      const [use] = await shop.chain.uses(call.payer.address)
      expect(known.body.receipt?.txId).toBe(use?.transaction)
      expect(shop.runs(call)).toBe(1)
    },
  )

  it.each(['error', 'dropped'] as const)('is carried out where it never was (%s)', async (trouble) => {
    const call = await shop.order()
    shop.facilitator.troubles.set('/settle', trouble)
    const first = await shop.send(call)
    expect(first.status).toBe(503)
    expect(first.text).not.toContain('"result"')
    expect(await shop.spent(call.payer)).toBe(0n)
    shop.facilitator.reset()
    expect((await shop.sendUntilKnown(call)).status).toBe(200)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })

  it('is found out even if no caller asks', async () => {
    const call = await shop.order()
    shop.facilitator.troubles.set('/settle', 'cut')
    await shop.send(call)
    shop.facilitator.reset()
    await until('the node knows by itself', async () => (await shop.listed(call.payer))[0]?.status === 'completed')
    expect((await shop.send(call)).status).toBe(200)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })

  it('gives 20 callers of one payment one answer', async () => {
    const call = await shop.order()
    shop.facilitator.troubles.set('/settle', 'cut')
    const replies = await Promise.all(Array.from({ length: 20 }, () => shop.send(call)))
    for (const { status } of replies) expect([200, 503]).toContain(status)
    shop.facilitator.reset()
    if (replies.every(({ status }) => status === 503)) expect((await shop.sendUntilKnown(call)).status).toBe(200)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })
})

describe('a facilitator that says that it settled and did not', () => {
  it('is believed for the answer, then found out: the operator is warned', async () => {
    const call = await shop.order()
    const incomeBefore = await shop.income()
    shop.facilitator.troubles.set('/settle', 'pretended')
    expect((await shop.send(call)).status).toBe(200)
    // An unused authorization could still be carried out until it expires. A cancelled one never can.
    await shop.chain.cancel(call.payer, call.signed.authorization.nonce)
    const warned = await until(
      'the status warns',
      async () => {
        const { body } = await ask<{ readonly warnings: readonly string[] }>(shop.url, '/api/v1/status')
        return body.warnings.find((warning) => warning.includes('facilitator'))
      },
      { ms: 120_000 },
    )
    expect(warned).toContain('1 stablecoin payments')
    const told = shop.daemon.log.filter(({ code }) => code === 'stable/not-arrived')
    expect(told).toMatchObject([{ payer: call.payer.address.toLowerCase(), facilitator: shop.facilitator.url }])
    const { text } = await ask(shop.url, '/metrics')
    expect(text).toContain('farthing_stable_payments_checked_total{verdict="missing"} 1')
    expect(await shop.income()).toBe(incomeBefore)
  })
})

describe('two facilitators', () => {
  const [first, second] = [0, 1].map((i) => (): LocalFacilitator => backup.facilitators[i] as LocalFacilitator) as [
    () => LocalFacilitator,
    () => LocalFacilitator,
  ]

  it('the second takes over where the first is down', async () => {
    await first().close()
    const call = await backup.order()
    expect((await backup.sendUntilKnown(call)).status).toBe(200)
    expect(second().count('/settle')).toBe(1)
    expect([await backup.spent(call.payer), backup.runs(call)]).toEqual([PRICE, 1])
  })

  it('the second takes over where the first goes down between verification and settlement', async () => {
    const call = await backup.order({ request: backup.newRequest('slow:800') })
    const answer = backup.sendUntilKnown(call)
    await until('it was verified', () => first().count('/verify') + second().count('/verify') > 0)
    const busy = first().count('/verify') > 0 ? first() : second()
    await busy.close()
    expect((await answer).status).toBe(200)
    expect([await backup.spent(call.payer), backup.runs(call)]).toEqual([PRICE, 1])
  })

  it('charge once where the first settles and its answer is lost', async () => {
    const call = await backup.order()
    for (const { troubles } of backup.facilitators) troubles.set('/settle', 'cut')
    await backup.send(call)
    for (const facilitator of backup.facilitators) facilitator.reset()
    const known = await backup.sendUntilKnown(call)
    expect(known.status).toBe(200)
    expect([await backup.spent(call.payer), backup.runs(call)]).toEqual([PRICE, 1])
    expect(await backup.chain.uses(call.payer.address)).toHaveLength(1)
  })
})
