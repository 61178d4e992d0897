import { afterEach, describe, expect, it } from 'vitest'
import { weightOf } from '../../../consensus/tx/weight.ts'
import { walletKey } from '../../../src/crypto/wallet-key.ts'
import { seedOf } from '../../support/actors.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { closeMarkets, ONCE, TestMarket, type TestPayment } from '../../support/market.ts'
import { units } from '../../support/unsigned.ts'

/** A hot key that settles for the shop and owns nothing else. */
const HOT = walletKey(seedOf(60))
/** Fees of two hundred receipts in separate transactions, at four times the least base fee. */
const ENOUGH = 5_000n * 200n * 32n * 4n

afterEach(closeMarkets)

/** A market whose hot key has a balance. */
async function settlerWith(balance: bigint, prices = {}): Promise<TestMarket> {
  const test = await TestChain.open()
  await fund(test, balance, true)
  return TestMarket.open({ test, prices, operator: { settler: HOT } })
}

async function fund(test: TestChain, amount: bigint, create = false): Promise<void> {
  await test.mine([await test.tx(wallet(1), 'transfer', { to: HOT.address, amount: units(amount), create })])
}

/** Pays for one call with each term, all in one block. */
async function paidFor(market: TestMarket, terms: readonly number[]): Promise<readonly TestPayment[]> {
  const payments: TestPayment[] = []
  for (const [i, term] of terms.entries()) payments.push(await market.order(`ok:${i}`, { term }))
  await market.mine(payments.map(({ tx }) => tx))
  return payments
}

const availability = (market: TestMarket) => market.shop.availability(market.shop.offer(ONCE)!)
const idsOf = (list: readonly { readonly txId: string }[]) => list.map(({ txId }) => txId)

describe('a market whose settler cannot pay for two hundred receipts', () => {
  it('is unavailable and says why; with one unit more it sells', async () => {
    const short = await settlerWith(ENOUGH - 1n)
    expect(availability(short)).toMatchObject({
      available: false,
      reason: 'the settler account cannot pay for receipts',
    })
    await fund(short.test, 1n)
    expect(availability(short)).toMatchObject({ available: true })
  })

  it('refunds a payment that comes anyway, and does no work', async () => {
    const market = await settlerWith(ENOUGH - 1n)
    const { answer, payment } = await market.buy('ok')
    expect(answer).toMatchObject({ ok: true, value: { claim: { state: 'failed', reason: 'service/unavailable' } } })
    await market.pass(500)
    await market.mineWaiting()
    expect([market.closure(payment)?.how, market.workbench.begun]).toEqual(['failed', []])
  })
})

describe('a settler with just enough', () => {
  it('can post two hundred receipts at once', async () => {
    // At such a low price, one confirmation suffices for all.
    const market = await settlerWith(ENOUGH, { [ONCE]: 250n })
    const payments = await paidFor(
      market,
      Array.from({ length: 200 }, () => 400),
    )
    for (const payment of payments) expect(await market.settle(payment)).toMatchObject({ ok: true })
    await market.pass(500)
    expect(idsOf(market.waitingEntries)).toEqual(idsOf(payments))
    await market.mineWaiting()
    expect(new Set(payments.map((payment) => market.closure(payment)?.how))).toEqual(new Set(['delivered']))
    expect(market.faults).toEqual([])
  })
})

describe('a settler that became poor while calls were under way', () => {
  /** Enough for one batch of three (twelve calls, halved twice), and not for a second one. */
  const LITTLE = 1_100_000n

  /** Spends the hot key's balance in the next block, except for `left`. */
  async function spendAllBut(left: bigint, { test }: TestMarket): Promise<void> {
    const spend = (amount: bigint) => {
      const payload = { to: wallet(9).address, amount: units(amount), create: false }
      return test.tx(HOT, 'transfer', payload, { nonce: 0n, maxFeeRate: 33n })
    }
    const weight = weightOf(await spend(1n), test.chain.ruleBook.at(test.height).tx)
    await test.mine([await spend(test.balance(HOT.address) - left - BigInt(weight) * 33n)])
    expect(test.balance(HOT.address)).toBe(left)
  }

  /** Delivered calls with these terms, and too little money for their receipts. */
  async function impoverished(terms: readonly number[]) {
    const market = await settlerWith(2n * ENOUGH)
    const payments = await paidFor(market, terms)
    for (const payment of payments) expect(await market.settle(payment)).toMatchObject({ ok: true })
    await spendAllBut(LITTLE, market)
    await market.quiet()
    return { market, payments }
  }

  const TERMS = [1_200, 100, 400, 1_200, 100, 400, 1_200, 100, 400, 1_200, 100, 400]

  it('sends smaller batches, the most urgent calls first', async () => {
    const { market, payments } = await impoverished(TERMS)
    expect(idsOf(market.waitingEntries)).toEqual(idsOf([1, 4, 7].map((i) => payments[i] as TestPayment)))
    expect(market.sender.waiting.length).toBe(1)
    expect(market.faults.map(({ code }) => code)).toEqual(['mempool/balance-exceeded'])
    expect(availability(market)).toMatchObject({ available: false })
  })

  it('sends the rest when there is money again, and nothing is lost', async () => {
    const { market, payments } = await impoverished(TERMS)
    await fund(market.test, 100_000_000n)
    await market.quiet()
    const later = [10, 2, 5, 8, 11, 0, 3, 6, 9].map((i) => payments[i] as TestPayment)
    expect(idsOf(market.waitingEntries).slice(3)).toEqual(idsOf(later))
    await market.mineWaiting()
    expect(payments.map((payment) => market.closure(payment)?.how)).toEqual(payments.map(() => 'delivered'))
    expect(market.sender.waiting).toEqual([])
  })
})
