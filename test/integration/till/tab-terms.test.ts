import { afterEach, describe, expect, it } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../../config/networks/rules.ts'
import { ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { TAB_TERMS_TABLE } from '../../../marketplace/ledger/tab-records.ts'
import { Registrar } from '../../../marketplace/till/rails/native/registrar.ts'
import { claimFee } from '../../../marketplace/till/rails/tab/claim-fee.ts'
import { missingTerms, type TabSelling } from '../../../marketplace/till/rails/tab/terms.ts'
import { walletReceiptSigner } from '../../../src/crypto/receipt-key.ts'
import { seedOf } from '../../support/actors.ts'
import { wallet } from '../../support/chain.ts'
import { closeMarkets, type MarketParts, ONCE, SHOP, TestMarket } from '../../support/market.ts'
import { tabRuleBook } from '../../support/tab-seller.ts'
import { units } from '../../support/unsigned.ts'

const [KEY, OTHER_KEY] = [5, 6].map((number) => walletReceiptSigner(seedOf(number)).key) as [Hash, Hash]
const SELLING: TabSelling = { isOn: true, receiptKey: KEY, closeDelay: 400 }
afterEach(closeMarkets)

/** A market on chain with a registrar that posts terms. */
async function open(selling: Partial<TabSelling> = {}, parts: MarketParts = {}) {
  const market = await TestMarket.open({ ruleBook: tabRuleBook(), ...parts })
  const { shop, sender, test } = market
  const registrar = new Registrar({
    ...{ chain: test.chain, shop, sender },
    tabTerms: () => missingTerms({ chain: test.chain, shop }, { ...SELLING, ...selling }),
    onFault: (cause) => {
      throw new Error(cause.code)
    },
  })
  registrar.check()
  await market.quiet()
  return { market, registrar }
}

const termsOf = ({ test }: TestMarket) => test.chain.database.get(TAB_TERMS_TABLE, SHOP)
const kindsOf = ({ sender }: TestMarket) => sender.waiting.map(({ body }) => body.kind)
/** A hundred claims of one tab at the lowest base fee. */
function hundredClaims({ test }: TestMarket): bigint {
  const { tx, block } = test.ruleBook.at(1)
  return 100n * claimFee(1, block.baseFeeMin, tx, tx.tabs!)
}

describe('an operator that takes tabs', () => {
  it('posts its terms once: its receipt key, a deposit worth a hundred claims, the least delay', async () => {
    const { market, registrar } = await open()
    expect(kindsOf(market)).toEqual(['tab_terms'])
    for (let i = 0; i < 3; i++) registrar.check()
    await market.mine()
    await market.mine()
    expect(kindsOf(market)).toEqual(['tab_terms'])
    await market.mineWaiting()
    const minDeposit = hundredClaims(market)
    expect(minDeposit).toBe(16_224_000n)
    expect(termsOf(market)).toEqual({ receiptKey: KEY, minDeposit, minCloseDelay: 400 })
    await market.mineWaiting(3)
    expect(kindsOf(market)).toEqual([])
  })

  it('asks for no more when a service is dear', async () => {
    const { market } = await open({}, { prices: { [ONCE]: 400_000_000n } })
    await market.mineWaiting()
    expect(termsOf(market)?.minDeposit).toBe(hundredClaims(market))
    expect(market.priceOf(ONCE)).toBeGreaterThan(hundredClaims(market))
  })

  it('asks for the least deposit of the network if that is more', async () => {
    const tabs = { ...TAB_RULES, depositMin: 50_000_000n }
    const { market } = await open({}, { ruleBook: tabRuleBook({ tx: { ...LAUNCH_RULES.tx, tabs } }) })
    await market.mineWaiting()
    expect(hundredClaims(market)).toBeLessThan(50_000_000n)
    expect(termsOf(market)?.minDeposit).toBe(50_000_000n)
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

  it('posts them again when the deposit on chain is off by more than a factor of two, and not before', async () => {
    const { market } = await open()
    await market.mineWaiting()
    const least = hundredClaims(market)
    const { test } = market
    for (const [minDeposit, isKept] of [
      [2n * least, true],
      [2n * least + 1n, false],
      [(least + 1n) / 2n, true],
      [(least - 1n) / 2n, false],
    ] as const) {
      const terms = { agentId: SHOP, receiptKey: KEY, minDeposit: units(minDeposit), minCloseDelay: 400 }
      await market.mine([await test.tx(wallet(2), 'tab_terms', terms)])
      expect(termsOf(market)?.minDeposit).toBe(minDeposit)
      await market.mine()
      await market.mineWaiting()
      expect(termsOf(market)?.minDeposit).toBe(isKept ? minDeposit : least)
    }
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

describe('a network without tabs, or a shop that sells nothing', () => {
  it('gets no terms', async () => {
    const { shop, test } = await TestMarket.open()
    expect(missingTerms({ chain: test.chain, shop }, SELLING)).toBeNull()
    const empty = await TestMarket.open({ ruleBook: tabRuleBook(), services: [], published: false })
    expect(missingTerms({ chain: empty.test.chain, shop: empty.shop }, SELLING)).toBeNull()
  })
})
