import { afterEach, describe, expect, it } from 'vitest'
import { ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { TAB_TERMS_TABLE } from '../../../marketplace/ledger/tab-records.ts'
import { chainPrice, type NativePriceSource } from '../../../marketplace/till/rails/native/price.ts'
import { Registrar } from '../../../marketplace/till/rails/native/registrar.ts'
import { claimFee } from '../../../marketplace/till/rails/tab/claim-fee.ts'
import { missingTerms, type TabSelling } from '../../../marketplace/till/rails/tab/terms.ts'
import { walletReceiptSigner } from '../../../src/crypto/receipt-key.ts'
import { seedOf } from '../../support/actors.ts'
import { AGAIN, closeMarkets, type MarketParts, ONCE, SHOP, TestMarket } from '../../support/market.ts'
import { tabRuleBook } from '../../support/tab-seller.ts'
import { units } from '../../support/unsigned.ts'

const [KEY, OTHER_KEY] = [5, 6].map((number) => walletReceiptSigner(seedOf(number)).key) as [Hash, Hash]
const SELLING: TabSelling = { isOn: true, receiptKey: KEY, closeDelay: 400 }
/** Above ten calls of the dearest service, so that the fees of claims decide; and far above. */
const CHEAP = { [AGAIN]: 1_000n, [ONCE]: 1_000n, 'node-test-closed': 1_000n }
const DEAR = { ...CHEAP, [ONCE]: 400_000n }

afterEach(closeMarkets)

/** A market on chain with a registrar that posts terms. The price can be moved by a factor. */
async function open(selling: Partial<TabSelling> = {}, parts: MarketParts = {}) {
  const market = await TestMarket.open({ ruleBook: tabRuleBook(), prices: CHEAP, ...parts })
  let factor = 1n
  const real = chainPrice(market.test.chain)
  const priceOfMicros: NativePriceSource['priceOfMicros'] = (micros, epoch) => {
    const price = real.priceOfMicros(micros, epoch)
    return price === undefined ? undefined : units(price * factor)
  }
  const { shop, sender, test } = market
  const source = { chain: test.chain, shop, price: { ...real, priceOfMicros } }
  const registrar = new Registrar({
    ...{ chain: test.chain, shop, sender },
    tabTerms: () => missingTerms(source, { ...SELLING, ...selling }),
    onFault: (cause) => {
      throw new Error(cause.code)
    },
  })
  registrar.check()
  await market.quiet()
  const movePrice = (by: bigint): void => {
    factor = by
  }
  return { market, registrar, movePrice }
}

const termsOf = ({ test }: TestMarket) => test.chain.database.get(TAB_TERMS_TABLE, SHOP)
const kindsOf = ({ sender }: TestMarket) => sender.waiting.map(({ body }) => body.kind)
/** The price of a service in coins, ten times. */
const tenCalls = (market: TestMarket, id: string): bigint => 10n * market.priceOf(id)

describe('an operator that takes tabs', () => {
  it('posts its terms once: its receipt key, a deposit worth a hundred claims, the least delay', async () => {
    const { market, registrar } = await open()
    expect(kindsOf(market)).toEqual(['tab_terms'])
    for (let i = 0; i < 3; i++) registrar.check()
    await market.mine()
    await market.mine()
    expect(kindsOf(market)).toEqual(['tab_terms'])
    await market.mineWaiting()
    const { tx, block } = market.test.ruleBook.at(1)
    const minDeposit = 100n * claimFee(1, block.baseFeeMin, tx, tx.tabs!)
    expect(minDeposit).toBeGreaterThan(tenCalls(market, ONCE))
    expect(termsOf(market)).toEqual({ receiptKey: KEY, minDeposit, minCloseDelay: 400 })
    await market.mineWaiting(3)
    expect(kindsOf(market)).toEqual([])
  })

  it('asks for ten calls of its dearest service if that is more', async () => {
    const { market } = await open({}, { prices: DEAR })
    await market.mineWaiting()
    expect(termsOf(market)?.minDeposit).toBe(tenCalls(market, ONCE))
  })

  it('asks for the next delay that the network knows', async () => {
    for (const [closeDelay, expected] of [
      [401, 1_200],
      [28_800, 28_800],
      [50_000, 28_800],
    ] as const) {
      const { market } = await open({ closeDelay })
      await market.mineWaiting()
      expect(termsOf(market)?.minCloseDelay).toBe(expected)
    }
  })

  it('posts them again when the price has moved the deposit by more than a factor of two, and not before', async () => {
    const { market, movePrice } = await open({}, { prices: DEAR })
    await market.mineWaiting()
    const first = termsOf(market)!.minDeposit
    movePrice(2n)
    await market.mine()
    expect(kindsOf(market)).toEqual([])
    movePrice(3n)
    await market.mine()
    await market.mineWaiting()
    expect(termsOf(market)?.minDeposit).toBe(3n * first)
  })

  it('posts them again after its key or delay has changed', async () => {
    const { market, registrar } = await open()
    await market.mineWaiting()
    await registrar.stop()
    const receiptKey = OTHER_KEY
    const next = await open({ receiptKey, closeDelay: 1_200 }, { test: market.test })
    await next.market.mineWaiting()
    expect(termsOf(market)).toMatchObject({ receiptKey, minCloseDelay: 1_200 })
  })
})

describe('an operator that takes no tabs', () => {
  it('posts nothing', async () => {
    const { market } = await open({ isOn: false })
    await market.mineWaiting(2)
    expect([kindsOf(market), termsOf(market)]).toEqual([[], undefined])
  })

  it('and took them before takes its key off the chain, once, and can take tabs again', async () => {
    const { market, registrar } = await open()
    await market.mineWaiting()
    const before = termsOf(market)!
    await registrar.stop()
    const off = await open({ isOn: false }, { test: market.test })
    await off.market.mineWaiting()
    expect(termsOf(market)).toEqual({ ...before, receiptKey: ZERO_HEX_32 as Hash })
    await off.market.mineWaiting(2)
    expect(kindsOf(off.market)).toEqual([])
    await off.registrar.stop()
    const on = await open({}, { test: market.test })
    await on.market.mineWaiting()
    expect(termsOf(market)).toEqual(before)
  })
})

describe('a network without tabs, or a coin without a price', () => {
  it('gets no terms', async () => {
    const without = await TestMarket.open()
    const { shop, price, test } = without
    expect(missingTerms({ chain: test.chain, shop, price }, SELLING)).toBeNull()
    const { market } = await open()
    const unpriced = { ...market.price, priceOfMicros: () => undefined }
    const parts = { chain: market.test.chain, shop: market.shop, price: unpriced }
    expect(missingTerms(parts, SELLING)).toBeNull()
  })
})
