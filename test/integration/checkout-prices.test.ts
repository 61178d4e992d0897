import { afterEach, describe, expect, it } from 'vitest'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { closeMarkets, ONCE, TestMarket } from '../support/market.ts'
import { testParams } from '../support/network.ts'

/** Prices in millionths of a dollar, and what they come to in base units at a quarter of a dollar for a coin. */
const [OLD, NEW, NEWER] = [2_000n, 3_000n, 5_000n]
const unitsOf = (usdMicros: bigint): bigint => usdMicros * 400n
/** Blocks for which one price counts. */
const EPOCH = 20

afterEach(closeMarkets)

/** A market whose price was changed by a block in the middle of an epoch: it counts from the next one on. */
async function changedIn(epoch: number): Promise<TestMarket> {
  const market = await TestMarket.open({ prices: { [ONCE]: OLD } })
  await market.test.mineTo(epoch * EPOCH + 6)
  await market.mine([await market.publication(market.shop.offer(ONCE)!, NEW)])
  return market
}

/** What becomes of a payment of an amount that is mined at a height. */
async function paidAt(market: TestMarket, height: number, amount: bigint): Promise<string> {
  await market.test.mineTo(height - 1)
  const payment = await market.pay(`ok:${height}:${amount}`, { amount })
  const answer = await market.settle(payment)
  if (answer.ok) return answer.value.claim.state
  return answer.fault.code === 'pay/mismatch'
    ? `${answer.fault.detail.field}: ${answer.fault.detail.expected}`
    : answer.fault.code
}

const refused = (...prices: readonly bigint[]): string =>
  `the amount in base units: ${prices.map(unitsOf).join(' or ')}`

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

  it('goes back by itself where it does not fit, and the refusal says when', async () => {
    const market = await changedIn(1)
    const payment = await market.pay('ok', { amount: unitsOf(OLD) + 1n })
    const { deadline } = market.escrow(payment)!
    expect(await market.settle(payment)).toEqual({
      ok: false,
      fault: {
        code: 'pay/mismatch',
        detail: {
          txId: payment.txId,
          field: 'the amount in base units',
          got: `${unitsOf(OLD) + 1n}`,
          expected: `${unitsOf(OLD)}`,
          refund: `The escrow returns to the caller by itself at height ${deadline}.`,
        },
      },
    })
    expect(await market.store.get(payment.txId)).toBeUndefined()
  })
})

describe('a service that was published anew with the same price', () => {
  it('takes that price throughout', async () => {
    const market = await TestMarket.open({ prices: { [ONCE]: OLD } })
    await market.test.mineTo(26)
    await market.mine([await market.publication(market.shop.offer(ONCE)!)])
    for (const height of [39, 40, 60]) expect(await paidAt(market, height, unitsOf(OLD))).toBe('delivered')
  })
})

describe('a payment for a service that is retired meanwhile', () => {
  it('is served or goes back, but is not lost', async () => {
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

it('a payment of a price before the last change is honoured, whatever else of the service was changed since', async () => {
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

it('a payment is judged by the coin’s price in its own epoch, also after a rule step has changed it', async () => {
  const params = testParams()
  const [first] = params.steps as readonly [(typeof params.steps)[number]]
  const dearer = { ...first.rules, market: { ...first.rules.market, nativeUsdMicros: 500_000n } }
  const steps = [first, { fromHeight: 2 * EPOCH, rules: dearer }]
  const market = await TestMarket.open({ ruleBook: createRuleBook({ ...params, steps }, PROTOCOL) })
  await market.test.mineTo(EPOCH + 5)
  const payment = await market.pay('ok', { term: 400 })
  await market.test.mineTo(2 * EPOCH + 1)
  expect(await market.settle(payment)).toMatchObject({ ok: true })
})
