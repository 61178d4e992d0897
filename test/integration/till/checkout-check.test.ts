import { afterEach, describe, expect, it } from 'vitest'
import { ACCOUNTS } from '../../../consensus/ledger/account.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { checkRequest, type ServiceDefinition } from '../../../marketplace/services/service.ts'
import { wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets, TestMarket } from '../../support/market.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'

afterEach(closeMarkets)

/** A service that accepts requests while wallet 3 has signed fewer than `limit` transactions. So its check needs the chain's state. */
function picky(limit: bigint): ServiceDefinition {
  const [model] = TEST_SERVICES as readonly [ServiceDefinition]
  return {
    ...model,
    check: (input, { chain }) => {
      const nonce = chain.database.get(ACCOUNTS, wallet(3).address)?.nonce ?? 0n
      const { example, requestFormat } = model
      return nonce < limit ? null : fault('service/invalid-request', { reason: `no ${input}`, example, requestFormat })
    },
  }
}

/** Mines a transaction of wallet 3. */
async function sign(market: TestMarket): Promise<void> {
  const payload = { to: wallet(1).address, amount: 1n as never, create: false }
  await market.mine([await market.test.tx(wallet(3), 'transfer', payload)])
}

describe('a request that the chain’s state makes invalid', () => {
  it('is refused before the payment is consumed, and the payment buys another one', async () => {
    const market = await TestMarket.open({ services: [picky(1n)] })
    const payment = await market.pay('ok', { serviceId: AGAIN, lock: 'none' })
    await sign(market)
    expect(await market.settle(payment)).toMatchObject({
      ok: false,
      fault: { code: 'service/invalid-request', detail: { reason: 'no ok' } },
    })
    expect(await market.store.get(payment.txId)).toBeUndefined()
    expect(market.escrow(payment)).toBeDefined()
    const patient = await market.restart({ services: [picky(2n)] })
    expect(await patient.settle(payment)).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
  })

  it('is refused if it became invalid while the payment was waited for', async () => {
    const market = await TestMarket.open({ services: [picky(1n)] })
    const payment = await market.order('ok', { serviceId: AGAIN })
    await market.submit(payment.tx)
    const answer = market.settle(payment)
    await market.quiet()
    const other = await market.test.tx(wallet(3), 'transfer', {
      to: wallet(1).address,
      amount: 1n as never,
      create: false,
    })
    await market.mine([payment.tx, other])
    expect(await answer).toMatchObject({ ok: false, fault: { code: 'service/invalid-request' } })
    expect(await market.store.get(payment.txId)).toBeUndefined()
  })

  it('is given back at once if the service just cannot serve it now', async () => {
    const [model] = TEST_SERVICES as readonly [ServiceDefinition]
    const away = fault('service/unavailable', { serviceId: AGAIN, reason: 'no web' })
    const market = await TestMarket.open({ services: [{ ...model, check: () => away }] })
    const { payment } = await market.buy('ok', { serviceId: AGAIN })
    expect(await market.settle(payment)).toMatchObject({
      ok: true,
      value: { claim: { state: 'failed', reason: 'service/unavailable' } },
    })
    await market.pass(500)
    await market.mineWaiting()
    expect(market.closure(payment)).toMatchObject({ how: 'failed' })
  })

  it('does not undo an earlier answer', async () => {
    const market = await TestMarket.open({ services: [picky(1n)] })
    const { payment } = await market.buy('ok', { serviceId: AGAIN })
    await sign(market)
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { replayed: true } })
  })

  it('is reported at the quote, after mistakes in the text itself', async () => {
    const market = await TestMarket.open({ services: [picky(0n)] })
    const [{ definition }] = market.shop.offers as readonly [(typeof market.shop.offers)[number]]
    const reasonOf = (request: string) => {
      const checked = checkRequest(definition, request, market.shop.context)
      return checked.ok ? null : checked.fault.detail.reason
    }
    expect(reasonOf('refuse')).toBe('nothing to do')
    expect(reasonOf('ok')).toBe('no ok')
  })
})
