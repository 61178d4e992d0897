import { afterEach, describe, expect, it } from 'vitest'
import { formatAmount } from '../../../consensus/primitives/amount.ts'
import type { ServiceId, TokenSymbol } from '../../../consensus/primitives/ids.ts'
import { wallet } from '../../support/chain.ts'
import { closeMarkets, ONCE, TestMarket } from '../../support/market.ts'
import { units } from '../../support/unsigned.ts'

/** Prices in millionths of a dollar, and in base units at a quarter of a dollar a coin. */
const [OLD, NEW, NEWER] = [2_000n, 3_000n, 5_000n]
const unitsOf = (usdMicros: bigint): bigint => usdMicros * 400n
/** Blocks for which one price counts. */
const EPOCH = 20

afterEach(closeMarkets)

/** A market whose price was changed in the middle of an epoch. The change counts from the next epoch on. */
async function changedIn(epoch: number): Promise<TestMarket> {
  const market = await TestMarket.open({ prices: { [ONCE]: OLD } })
  await market.test.mineTo(epoch * EPOCH + 6)
  await market.mine([await market.publication(market.shop.offer(ONCE)!, NEW)])
  return market
}

/** The outcome of a payment of `amount` that is mined at `height`. */
async function paidAt(market: TestMarket, height: number, amount: bigint): Promise<string> {
  await market.test.mineTo(height - 1)
  const payment = await market.pay(`ok:${height}:${amount}`, { amount })
  const answer = await market.settle(payment)
  if (answer.ok) return answer.value.claim.state
  return answer.fault.code === 'pay/mismatch'
    ? `${answer.fault.detail.field}: ${answer.fault.detail.expected}`
    : answer.fault.code
}

const coins = (units: bigint): string => `${formatAmount(units, 8)} FAR`

const refused = (...prices: readonly bigint[]): string =>
  `the amount: ${prices.map((price) => coins(unitsOf(price))).join(' or ')}`

describe('a payment after a change of the price', () => {
  it('may pay the old price in the epoch of the change, and nothing else', async () => {
    const market = await changedIn(1)
    expect(await paidAt(market, 38, unitsOf(OLD))).toBe('delivered')
    expect(await paidAt(market, 39, unitsOf(NEW))).toBe(refused(OLD))
  })

  it('may pay either price in the next epoch, and nothing else', async () => {
    const market = await changedIn(1)
    expect(await paidAt(market, 40, unitsOf(OLD))).toBe('delivered')
    expect(await paidAt(market, 41, unitsOf(NEW))).toBe('delivered')
    for (const amount of [unitsOf(OLD) - 1n, unitsOf(OLD) + 1n, unitsOf(NEW) - 1n, unitsOf(NEW) + 1n, unitsOf(NEWER)]) {
      expect(await paidAt(market, market.test.height + 1, amount)).toBe(refused(NEW, OLD))
    }
    expect(await paidAt(market, 59, unitsOf(OLD))).toBe('delivered')
  })

  it('may pay only the new price from the epoch after that on', async () => {
    const market = await changedIn(1)
    expect(await paidAt(market, 60, unitsOf(OLD))).toBe(refused(NEW))
    expect(await paidAt(market, 61, unitsOf(NEW))).toBe('delivered')
  })

  it('is judged by its mining height, however late it is redeemed', async () => {
    const market = await changedIn(1)
    await market.test.mineTo(58)
    const payment = await market.pay('ok', { amount: unitsOf(OLD) })
    await market.test.mineTo(200)
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
  })

  it('is listed with the price of its own epoch', async () => {
    const market = await changedIn(1)
    const early = await market.buy('ok:early', { amount: unitsOf(OLD) })
    expect(early.answer).toMatchObject({ ok: true, value: { claim: { priceUsdMicros: OLD.toString() } } })
    await market.test.mineTo(61)
    const late = await market.buy('ok:late')
    expect(late.answer).toMatchObject({ ok: true, value: { claim: { priceUsdMicros: NEW.toString() } } })
  })

  it('is refunded by itself if it does not fit, and the refusal says when', async () => {
    const market = await changedIn(1)
    const payment = await market.pay('ok', { amount: unitsOf(OLD) + 1n })
    const { deadline } = market.escrow(payment)!
    expect(await market.settle(payment)).toEqual({
      ok: false,
      fault: {
        code: 'pay/mismatch',
        detail: {
          txId: payment.txId,
          field: 'the amount',
          ...{ got: coins(unitsOf(OLD) + 1n), gotBaseUnits: `${unitsOf(OLD) + 1n}` },
          ...{ expected: coins(unitsOf(OLD)), expectedBaseUnits: [`${unitsOf(OLD)}`] },
          refund: `The escrow returns to the caller by itself at height ${deadline}.`,
        },
      },
    })
    expect(await market.store.get(payment.txId)).toBeUndefined()
  })
})

describe('a service that was published anew with the same price', () => {
  it('accepts that price all the time', async () => {
    const market = await TestMarket.open({ prices: { [ONCE]: OLD } })
    await market.test.mineTo(26)
    await market.mine([await market.publication(market.shop.offer(ONCE)!)])
    for (const height of [39, 40, 60]) expect(await paidAt(market, height, unitsOf(OLD))).toBe('delivered')
  })
})

describe('a payment for a service that is retired meanwhile', () => {
  it('is served or refunded, but not lost', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    const retire = { agentId: market.operator.agentId, serviceId: ONCE as ServiceId }
    await market.mine([await market.test.tx(market.operator.settler, 'service_retire', retire)])
    expect(await market.settle(payment)).toMatchObject({
      ok: true,
      value: { claim: { state: 'failed', reason: 'service/unavailable' } },
    })
    await market.pass(500)
    await market.mineWaiting()
    expect(market.closure(payment)).toMatchObject({ how: 'failed' })
    expect(market.workbench.begun).toEqual([])
  })
})

it('a payment of the price before the last change is honoured, whatever else of the service changed since', async () => {
  const market = await TestMarket.open({ prices: { [ONCE]: OLD } })
  await market.test.mineTo(25)
  const payment = await market.pay('ok', { term: 400 })
  const offer = market.shop.offer(ONCE)!
  await market.mine([await market.publication(offer, NEW)])
  await market.test.mineTo(41)
  const described = { ...offer, definition: { ...offer.definition, description: 'better than before' } }
  await market.mine([await market.publication(described, NEW)])
  expect(await market.settle(payment)).toMatchObject({ ok: true })
})

/** Moves the coin's price by a swap: buying coins with dollars raises it. */
async function push(market: TestMarket, assetIn: 'FAR' | 'FUSD', amount: bigint): Promise<void> {
  const [from, asset] = [assetIn, assetIn === 'FAR' ? 'FUSD' : 'FAR'] as [TokenSymbol, TokenSymbol]
  const payload = {
    assetIn: from,
    exactOut: false,
    amount: units(amount),
    limit: units(0),
    hops: [{ asset, feeBps: 30 }],
  }
  await market.mine([await market.test.tx(wallet(5), 'swap', payload)])
}

describe('a payment while the pool moves', () => {
  const [DOLLARS, COINS] = [9_000n * 1_000_000n, 200_000n * 100_000_000n]

  it('is judged by the coin’s price in its own epoch, whatever the price is later', async () => {
    const market = await TestMarket.open()
    await market.test.mineTo(EPOCH + 5)
    const payment = await market.pay('ok', { term: 400 })
    await push(market, 'FUSD', DOLLARS)
    await market.test.mineTo(4 * EPOCH + 1)
    expect(market.priceOf(ONCE)).toBeLessThan(
      payment.tx.body.kind === 'agent_invoke' ? payment.tx.body.payload.amount : 0n,
    )
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
  })

  it('may pay what was quoted before the price left the bounds, but nothing else', async () => {
    const market = await TestMarket.open({ settings: { nativeUsdMinMicros: 200_000n }, prices: { [ONCE]: OLD } })
    await market.test.mineTo(EPOCH - 2)
    await push(market, 'FAR', COINS)
    await market.test.mineTo(2 * EPOCH - 1)
    // The price was low at the end of one of twenty blocks. So it is a little lower for epoch 1, and less than half for epoch 2.
    const quoted = market.priceOf(ONCE)
    expect(market.price.usdMicrosPerCoin(1)).toBeGreaterThan(200_000n)
    await market.test.mineTo(2 * EPOCH)
    const low = market.priceOf(ONCE)
    expect(market.price.usdMicrosPerCoin(2)).toBeLessThan(200_000n)
    expect(await paidAt(market, 2 * EPOCH + 1, quoted)).toBe('delivered')
    expect(await paidAt(market, 2 * EPOCH + 2, low)).toBe(`the amount: ${coins(quoted)}`)
    expect(await paidAt(market, 3 * EPOCH, low)).toBe('the amount: none: nothing was quoted then')
  })

  it('is refunded by itself if nothing was quoted, and can be paid again when the price is back', async () => {
    const market = await TestMarket.open({ settings: { minPoolDepthMicros: 200_000n * 1_000_000n } })
    const payment = await market.pay('ok', { term: 100 })
    expect(await market.settle(payment)).toMatchObject({ ok: false, fault: { code: 'pay/mismatch' } })
    const { deadline } = market.escrow(payment)!
    await market.test.mineTo(deadline)
    expect(market.closure(payment)).toMatchObject({ how: 'expired' })
  })
})
