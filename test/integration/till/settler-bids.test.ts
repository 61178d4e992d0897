import { afterEach, describe, expect, it } from 'vitest'
import { baseFeeAfter } from '../../../consensus/block/base-fee.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { weightOf } from '../../../consensus/tx/weight.ts'
import { wallet } from '../../support/chain.ts'
import { flood, mineFlooded, smallBlocks } from '../../support/flood.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket, type TestPayment } from '../../support/market.ts'
import { units } from '../../support/unsigned.ts'

/** The tip of strangers: a hundred times the tip that the market offers initially. */
const DEAR = 100n

afterEach(closeMarkets)

function market(prices: Readonly<Record<string, bigint>>): Promise<TestMarket> {
  return TestMarket.open({ ruleBook: smallBlocks(), prices })
}

function baseFee({ test: { chain, height } }: TestMarket): bigint {
  return baseFeeAfter(chain.head.header, chain.ruleBook.at(height + 1).block)
}

/** What a transaction would cost in the next block. */
function costOf(seller: TestMarket, tx: Transaction): bigint {
  const { chain, height } = seller.test
  return BigInt(weightOf(tx, chain.ruleBook.at(height + 1).tx)) * (baseFee(seller) + tx.body.tip)
}

/** A tip, and the height from which it was offered. */
interface Offered {
  readonly height: number
  readonly tip: bigint
  readonly cost: bigint
}

/** Mines at most `blocks` flooded blocks until a payment is closed. Returns the tips that its receipt offered. */
async function watchTips(seller: TestMarket, payment: TestPayment, blocks: number, tip = DEAR): Promise<Offered[]> {
  const offered: Offered[] = []
  for (let i = 0; i < blocks && seller.closure(payment) === undefined; i++) {
    const [tx] = seller.sender.waiting
    if (tx !== undefined && tx.body.tip !== offered.at(-1)?.tip)
      offered.push({ height: seller.test.height, tip: tx.body.tip, cost: costOf(seller, tx) })
    await mineFlooded(seller, 1, tip)
  }
  return offered
}

/** Pays, mines and settles. The receipt is then sent into a full mempool. */
async function owing(seller: TestMarket, requests: readonly { request: string; serviceId?: string }[], tip = DEAR) {
  const payments: TestPayment[] = []
  for (const { request, serviceId = ONCE } of requests)
    payments.push(await seller.order(request, { serviceId, term: 100 }))
  await seller.mine(payments.map(({ tx }) => tx))
  await flood(seller, tip)
  for (const payment of payments) expect(await seller.settle(payment)).toMatchObject({ ok: true })
  await seller.pass(500)
  expect(seller.waitingEntries.map(({ txId }) => txId)).toEqual(payments.map(({ txId }) => txId))
  return payments
}

describe('a receipt that strangers’ tips keep out of full blocks', () => {
  it('is left alone for three blocks, then offers at least twice the tip, and so on, until it is mined in time', async () => {
    const seller = await market({ [ONCE]: 40_000n })
    const [payment] = (await owing(seller, [{ request: 'ok' }])) as [TestPayment]
    const offered = await watchTips(seller, payment, 60)
    const tips = offered.map(({ tip }) => tip)
    expect(tips[0]).toBe(1n)
    expect(tips.length).toBeGreaterThan(5)
    expect(tips.slice(1).every((tip, i) => tip >= 2n * (tips[i] as bigint))).toBe(true)
    const heights = offered.map(({ height }) => height)
    const steps = heights.slice(1).map((height, i) => height - (heights[i] as number))
    expect([Math.min(...steps), Math.max(...steps) <= 4]).toEqual([3, true])
    expect(tips.at(-1)).toBeGreaterThan(DEAR)
    expect(seller.closure(payment)).toMatchObject({ how: 'delivered' })
    expect(seller.faults).toEqual([])
  })

  it('never offers more than the calls that it delivers are worth', async () => {
    const seller = await market({ [ONCE]: 2_000n })
    const worth = seller.priceOf(ONCE)
    const [payment] = (await owing(seller, [{ request: 'ok' }], 10_000n)) as [TestPayment]
    const offered = await watchTips(seller, payment, 27, 10_000n)
    expect(offered.length).toBeGreaterThan(3)
    for (const { cost } of offered) expect(cost).toBeLessThanOrEqual(worth)
    // One more step would have exceeded the calls' worth.
    const last = offered.at(-1) as Offered
    expect(last.height).toBeLessThan(seller.test.height - 6)
    const [tx] = seller.sender.waiting as [Transaction]
    const weight = BigInt(weightOf(tx, seller.test.chain.ruleBook.at(1).tx))
    expect(weight * (baseFee(seller) + 2n * last.tip)).toBeGreaterThan(worth)
    expect(seller.closure(payment)).toBeUndefined()
  })

  it('does not raise its bid for refunds, which come by themselves', async () => {
    const seller = await market({ [ONCE]: 40_000n })
    const [payment] = (await owing(seller, [{ request: 'fail' }])) as [TestPayment]
    expect((await watchTips(seller, payment, 25)).map(({ tip }) => tip)).toEqual([1n])
    expect(seller.closure(payment)).toBeUndefined()
    // It is mined as soon as there is room again.
    await seller.mineWaiting(5)
    expect(seller.closure(payment)).toMatchObject({ how: 'failed' })
  })

  it('counts only delivered calls if it also has refunds', async () => {
    const seller = await market({ [ONCE]: 4_000n, [AGAIN]: 90_000n })
    const calls = [{ request: 'ok' }, { request: 'fail', serviceId: AGAIN }]
    const worth = seller.priceOf(ONCE)
    const [payment] = (await owing(seller, calls, 10_000n)) as [TestPayment]
    const offered = await watchTips(seller, payment, 27, 10_000n)
    expect(offered.length).toBeGreaterThan(3)
    for (const { cost } of offered) expect(cost).toBeLessThanOrEqual(worth)
  })

  it('is made anew at the present fee when it has expired', async () => {
    const seller = await market({ [ONCE]: 40_000n })
    const [payment] = (await owing(seller, [{ request: 'fail' }], 10_000n)) as [TestPayment]
    const [first] = seller.sender.waiting as [Transaction]
    await mineFlooded(seller, 31, 10_000n)
    const [second] = seller.sender.waiting as [Transaction]
    expect(second.body.nonce).toBe(first.body.nonce)
    expect(second.body.validUntil).toBeGreaterThan(first.body.validUntil)
    expect(seller.waitingEntries.map(({ txId }) => txId)).toEqual([payment.txId])
  })
})

describe('an old transaction of the same account in front of receipts', () => {
  it('that is below the base fee is raised until it and the receipts after it can be mined', async () => {
    const seller = await market({ [ONCE]: 40_000n })
    const payload = { to: wallet(9).address, amount: units(1), create: false }
    await flood(seller, 0n)
    // Like one sent by the wallet command: it never expires, and its fee was enough a moment ago.
    const transfer = await seller.test.tx(wallet(2), 'transfer', payload, { maxFeeRate: baseFee(seller) })
    await seller.submit(transfer)
    const payment = await seller.order('ok', { term: 100, tx: { tip: 5n } })
    await seller.submit(payment.tx)
    await seller.mineWaiting()
    expect(baseFee(seller)).toBeGreaterThan(transfer.body.maxFeeRate)
    expect(await seller.settle(payment)).toMatchObject({ ok: true })
    await seller.pass(500)
    expect(seller.sender.waiting.map(({ body }) => body.kind)).toEqual(['transfer', 'agent_receipt'])
    const fronts: Transaction[] = []
    for (let i = 0; i < 10 && seller.closure(payment) === undefined; i++) {
      fronts.push(seller.sender.waiting[0] as Transaction)
      await mineFlooded(seller, 1, 0n)
    }
    expect(seller.closure(payment)).toMatchObject({ how: 'delivered' })
    // The same transfer, at a higher fee.
    expect(fronts.at(-1)?.body).toMatchObject({ kind: 'transfer', payload, nonce: transfer.body.nonce, validUntil: 0 })
    expect(fronts.at(-1)?.body.maxFeeRate).toBeGreaterThan(transfer.body.maxFeeRate)
    expect(baseFee(seller)).toBeGreaterThan(transfer.body.maxFeeRate)
    expect(seller.sender.waiting).toEqual([])
  })
})

describe('transactions in front of a receipt that earns', () => {
  const PRICE = { [ONCE]: 40_000n }

  it('a receipt of failed calls is raised too, because nothing after it can be mined first', async () => {
    const seller = await market(PRICE)
    const failing = await seller.order('fail', { term: 100, from: 1 })
    const good = await seller.order('ok', { term: 100, from: 1 })
    await seller.mine([failing.tx, good.tx])
    await flood(seller, DEAR)
    for (const payment of [failing, good]) {
      await seller.settle(payment)
      await seller.pass(500)
    }
    expect(seller.sender.waiting.map(({ body }) => body.kind)).toEqual(['agent_receipt', 'agent_receipt'])
    const { deadline } = seller.escrow(good)!
    while (seller.test.height < deadline) await mineFlooded(seller, 1, DEAR)
    expect(seller.closure(good)).toMatchObject({ how: 'delivered' })
  })

  it('and so is a transfer of the same wallet', async () => {
    const seller = await market(PRICE)
    const good = await seller.order('ok', { term: 100, from: 1 })
    await seller.mine([good.tx])
    await flood(seller, DEAR)
    const payload = { to: wallet(9).address, amount: units(1), create: false }
    await seller.submit(await seller.test.tx(wallet(2), 'transfer', payload, { maxFeeRate: 10_000n }))
    await seller.settle(good)
    await seller.pass(500)
    const { deadline } = seller.escrow(good)!
    while (seller.test.height < deadline) await mineFlooded(seller, 1, DEAR)
    expect(seller.closure(good)).toMatchObject({ how: 'delivered' })
  })
})
