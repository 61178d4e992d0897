import { afterEach, describe, expect, it } from 'vitest'
import type { FinishedClaim } from '../../../marketplace/till/rails/native/claim.ts'
import { closeMarkets, TestMarket, type TestPayment } from '../../support/market.ts'
import { overtake } from '../../support/mempool.ts'

/** Depth at which a receipt counts as final, and blocks after which a lost payment is given up. */
const FINAL = 40
const GONE = 12_000

afterEach(closeMarkets)

/** A delivered call whose payment a heavier branch of empty blocks then unmines. */
async function unwound(): Promise<{ market: TestMarket; payment: TestPayment }> {
  const market = await TestMarket.open()
  const { payment, answer } = await market.buy('ok', { term: 1_200 })
  expect(answer).toMatchObject({ ok: true })
  await overtake(market.test, 1, [[], []])
  await market.quiet()
  expect(market.escrow(payment)).toBeUndefined()
  return { market, payment }
}

async function settlementOf(market: TestMarket, { txId }: TestPayment): Promise<string> {
  return ((await market.store.get(txId)) as FinishedClaim).settlement
}

async function mineEmpty(market: TestMarket, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await market.mine()
}

describe('a payment that a reorganisation takes off the chain after its call was delivered', () => {
  it('is mined again from the mempool, and then its receipt is sent', async () => {
    const { market, payment } = await unwound()
    expect(market.mempool.get(payment.txId)).toBeDefined()
    await market.pass(500)
    expect(market.waitingEntries).toEqual([])
    await market.mineWaiting()
    expect(market.escrow(payment)).toBeDefined()
    expect(market.waitingEntries.map(({ txId }) => txId)).toEqual([payment.txId])
    await market.mineWaiting()
    expect(market.closure(payment)).toMatchObject({ how: 'delivered' })
  })

  it('is not settled for good while it is gone, and its receipt is sent whenever it is mined again', async () => {
    const { market, payment } = await unwound()
    market.mempool.drop(payment.txId)
    await mineEmpty(market, FINAL + 5)
    expect([market.settler.owedCount, await settlementOf(market, payment)]).toEqual([1, 'owed'])
    // A repeat is still answered.
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { replayed: true } })
    await market.mine([payment.tx])
    expect(market.waitingEntries.map(({ txId }) => txId)).toEqual([payment.txId])
    await market.mineWaiting()
    expect(market.closure(payment)).toMatchObject({ how: 'delivered' })
  })

  it('is also owed by a node that started meanwhile', async () => {
    const { market, payment } = await unwound()
    const next = await market.restart()
    await next.till.resume()
    await mineEmpty(next, FINAL + 5)
    await next.mine([payment.tx])
    expect(next.waitingEntries.map(({ txId }) => txId)).toEqual([payment.txId])
  })

  it('is given up when no branch can bring it back in time', async () => {
    const { market, payment } = await unwound()
    const claim = (await market.store.get(payment.txId)) as FinishedClaim
    // Mining thousands of blocks would take too long, so the claim gets an older height.
    const [old, older] = [GONE - 2, GONE - 1].map((age) => ({ ...claim, minedAt: market.test.height - age }))
    market.settler.owe(old as FinishedClaim)
    await market.mine()
    expect([market.settler.owedCount, await settlementOf(market, payment)]).toEqual([1, 'owed'])
    market.settler.owe(older as FinishedClaim)
    await market.mine()
    expect([market.settler.owedCount, await settlementOf(market, payment)]).toEqual([0, 'final'])
  })
})

describe('a closed escrow', () => {
  it('is settled for good when it is forty blocks deep, and not before', async () => {
    const market = await TestMarket.open()
    const { payment } = await market.buy('ok')
    await market.pass(500)
    await market.mineWaiting()
    const { height } = market.closure(payment)!
    await mineEmpty(market, FINAL - 1)
    expect([market.test.height - height, await settlementOf(market, payment)]).toEqual([FINAL - 1, 'owed'])
    expect(market.settler.owedCount).toBe(1)
    await mineEmpty(market, 1)
    expect([market.settler.owedCount, await settlementOf(market, payment)]).toEqual([0, 'final'])
    expect(await market.store.get(payment.txId)).toMatchObject({ result: '{"echo":"ok"}' })
    expect(await market.store.open()).toEqual([])
  })

  it('that consensus refunded is settled for good at the same depth', async () => {
    const market = await TestMarket.open()
    const { payment } = await market.buy('ok', { term: 100 })
    const { deadline } = market.escrow(payment)!
    // The receipt waits and is not mined.
    while (market.test.height < deadline + FINAL - 1) await market.mine()
    expect(market.closure(payment)).toMatchObject({ how: 'expired', height: deadline })
    expect(await settlementOf(market, payment)).toBe('owed')
    await market.mine()
    expect(await settlementOf(market, payment)).toBe('final')
    expect(market.waitingEntries).toEqual([])
  })
})

describe('a receipt that a reorganisation takes off the chain', () => {
  for (const lost of [false, true]) {
    it(`is mined again ${lost ? 'although the mempool has lost it' : 'from the mempool'}`, async () => {
      const market = await TestMarket.open()
      const { payment } = await market.buy('ok')
      await market.pass(500)
      await market.mineWaiting()
      const first = market.closure(payment)!
      await mineEmpty(market, 5)
      await overtake(market.test, 6, [[], [], [], [], [], [], []])
      if (lost) for (const { txId } of market.sender.waiting) market.mempool.drop(txId)
      await market.mine()
      expect(market.closure(payment)).toBeUndefined()
      expect(market.waitingEntries.map(({ txId }) => txId)).toEqual([payment.txId])
      await market.mineWaiting()
      expect(market.closure(payment)).toMatchObject({ how: 'delivered' })
      expect(market.closure(payment)!.height).toBeGreaterThan(first.height)
      await mineEmpty(market, FINAL)
      expect(await settlementOf(market, payment)).toBe('final')
    })
  }
})
