import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../../config/networks/rules.ts'
import { encodeBlock } from '../../../consensus/block/block.ts'
import { verifyTabSignature } from '../../../consensus/crypto/tab-signing.ts'
import { epochOf } from '../../../consensus/ledger/epoch.ts'
import { fromHex, toHex } from '../../../consensus/primitives/bytes.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import { encodeTabReceipt, tabReceiptMessage, tabReceiptsRoot } from '../../../consensus/tx/tab-messages.ts'
import type { ClaimEntry } from '../../../consensus/tx/tab-payloads.ts'
import { decodeOutcomes, OUTCOMES, operatorOutcomesKey } from '../../../marketplace/ledger/outcomes.ts'
import { tabClaims } from '../../../marketplace/ledger/tab-lives.ts'
import { tabFacts } from '../../../marketplace/queries/tabs.ts'
import { Claimer } from '../../../marketplace/till/rails/tab/claimer.ts'
import type { TabPaidCall } from '../../../marketplace/till/rails/tab/tab-call.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets, SHOP } from '../../support/market.ts'
import { overtake } from '../../support/mempool.ts'
import { TabSeller, type TestTab, tabRuleBook } from '../../support/tab-seller.ts'
import { closeTabShops, TabShop } from '../../support/tabs.ts'
import { units } from '../../support/unsigned.ts'

const RICH = 20_000_000n
const DEPOSIT = 100_000_000n
const DELAY = 60

const sellers: TabSeller[] = []

afterEach(async () => {
  for (const seller of sellers.splice(0).reverse()) await seller.stop()
  await closeTabShops()
  await closeMarkets()
})

describe('attack 1, an opening that is reorganised away after use:', () => {
  it('costs the seller what may be risked at the depth that it had, and no more', async () => {
    const { shop } = await openShop()
    const { test, price, mempool } = shop.market
    const tab = await shop.openTab({}, 5)
    // Five blocks are not six: below ten cents may be risked, however much the deposit holds.
    const refused: string[] = []
    for (let i = 0; i < 60 && refused.length === 0; i++) {
      const answer = await shop.settle(tab, `ok:${i}`)
      if (!answer.ok) refused.push(answer.fault.code)
    }
    expect(refused).toEqual(['tabcall/unconfirmed'])
    const { charged } = (await shop.rail.stateOf(tab.tabId))!
    expect(price.microsOfAmount(charged, epochOf(test.height, test.chain.ruleBook.at(test.height).market))).toBe(
      98_000n,
    )
    const { nonce } = tab.opening.body
    const gift = { to: wallet(3).address, amount: units(1), create: false }
    const theft = await test.tx(wallet(1), 'transfer', gift, { nonce })
    await overtake(test, 5, [[theft], [], [], [], [], []])
    expect([shop.record(tab), mempool.get(tab.tabId)]).toEqual([undefined, undefined])
    expect(await shop.settle(tab, 'ok:late')).toMatchObject({ ok: false, fault: { code: 'tabcall/unknown' } })
  })
})

describe('attack 5, miners that keep claims out:', () => {
  /** A tab with 20,000,000 claimed and as much again charged, which its payer closes. */
  async function closing(): Promise<{ seller: TabSeller; tab: TestTab; closesAt: number }> {
    const tabs = { ...TAB_RULES, closeDelays: [DELAY, 400] }
    const ruleBook = tabRuleBook({ tx: { ...LAUNCH_RULES.tx, tabs } })
    const seller = await TabSeller.open({ ruleBook, closeDelay: DELAY })
    sellers.push(seller)
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.check()
    await seller.mineWaiting()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.mine([await seller.closeTx(tab)])
    return { seller, tab, closesAt: seller.tabOnChain(tab)!.closesAt }
  }

  it('for the whole close delay take what was not claimed before it, and nothing more', async () => {
    const { seller, tab, closesAt } = await closing()
    const [payer, payout] = [tab.payer.address, wallet(2).address]
    const before = [payer, payout].map((who) => seller.market.test.balance(who))
    await seller.mineEmpty(closesAt - seller.market.test.height)
    expect(seller.tabOnChain(tab)).toBeUndefined()
    const gained = [payer, payout].map((who, i) => seller.market.test.balance(who) - before[i]!)
    // The seller has paid no fee for a claim that was not mined.
    expect(gained).toEqual([DEPOSIT - RICH, 0n])
    await seller.mineEmpty(31)
    expect(seller.waiting).toEqual([])
  })

  it.each([1, 2, 31, 45])('take nothing if one honest block comes %i before the end', async (left) => {
    const { seller, tab, closesAt } = await closing()
    await seller.mineEmpty(closesAt - 1 - left - seller.market.test.height)
    await seller.mineWaiting()
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: 2n * RICH, receipts: 2 })
  })
})

/** A seller with the real rail, and a claimer over its store. */
async function openShop(): Promise<{ shop: TabShop; claimer: Claimer }> {
  const shop = await TabShop.open()
  const { test, mempool, sender, time } = shop.market
  const claimer = new Claimer({
    ...{ chain: test.chain, shop: shop.market.shop, store: shop.store, sender, sink: mempool, clock: time },
    onFault: (cause) => {
      throw new Error(cause.code)
    },
  })
  return { shop, claimer }
}

/** Mines what the claimer sends. Returns the entries of the claims in the block, and its bytes. */
async function mineClaim(shop: TabShop, claimer: Claimer) {
  await shop.market.pass(6 * 3_600_000)
  claimer.check()
  while (shop.market.sender.waiting.length === 0) await setImmediate()
  await shop.market.mineWaiting()
  const { chain } = shop.market.test
  const block = chain.database.block(chain.head.id)!
  const entries = block.transactions.flatMap(({ body }) => (body.kind === 'tab_claim' ? body.payload.entries : []))
  return { entries, bytes: Buffer.from(encodeBlock(block)) }
}

describe('attack 7, a seller that claims up to the ceiling without serving:', () => {
  it('gets what was in flight, and its own receipts contradict it', async () => {
    const { shop } = await openShop()
    const { test } = shop.market
    const tab = await shop.openTab({}, 6)
    for (const request of ['ok:1', 'ok:2']) expect((await shop.settle(tab, request)).ok).toBe(true)
    const charged = (await shop.rail.stateOf(tab.tabId))!.charged
    // Three calls that the seller takes and does not answer.
    shop.market.workbench.hold()
    const inFlight = [3, 4, 5].map((n) => shop.settle(tab, `ok:${n}`))
    await vi.waitFor(() => expect(shop.level.peek(tab.tabId)?.voucher?.ceiling).toBe(tab.ceiling))
    const row = shop.level.peek(tab.tabId)!
    const voucher = { ...row.voucher!, signature: fromHex(row.voucher!.signature) }
    const services = [{ serviceId: AGAIN as ServiceId, calls: 5, amount: units(tab.ceiling) }]
    const root = tabReceiptsRoot([encodeText('no receipt')])
    const theft: ClaimEntry = {
      ...{ tabId: tab.tabId, voucher: [voucher], claimed: units(tab.ceiling), close: true },
      ...{ receipts: 5, failed: 0, root, services },
    }
    await shop.market.mine([await test.tx(wallet(2), 'tab_claim', { entries: [theft] })])
    const [claim] = await tabClaims(test.chain.database, tab.tabId, { limit: 1 })
    expect(claim!.claimed - charged).toBe(3n * shop.market.priceOf(AGAIN))
    // The payer's evidence: receipts under the key that the state had, whose sum and root the claim denies.
    const receipts = await shop.rail.receiptsFrom(tab.tabId, 1, 10)
    expect(receipts.at(-1)?.receipt).toMatchObject({ n: 2, cumulative: charged })
    const items = receipts.map(({ receipt }) => encodeTabReceipt(receipt))
    const key = fromHex(tabFacts(test.chain, tab.tabId)!.tab.receiptKey)
    for (const [i, { signature }] of receipts.entries()) {
      const message = tabReceiptMessage(test.chain.network, items[i]!)
      expect(verifyTabSignature(NATIVE_BACKEND, { key, message, signature: fromHex(signature) })).toBe(true)
    }
    expect(tabReceiptsRoot(items)).not.toBe(claim!.root)
    shop.market.workbench.release()
    await Promise.all(inFlight)
  })
})

describe('attack 21, self-dealing for reputation:', () => {
  it('calls by tab are shown apart with what they burned, and those of an insider not at all', async () => {
    const seller = await TabSeller.open()
    sellers.push(seller)
    const [straw, insider] = await seller.openTabs([1, 2])
    for (const tab of [straw!, insider!]) {
      for (let i = 0; i < 20; i++) await seller.serve(tab, [{ charge: 1_000_000n }])
      await seller.mine([await seller.closeTx(tab)])
    }
    await seller.mineWaiting(3)
    expect([straw!, insider!].map((tab) => seller.tabOnChain(tab))).toMatchObject([
      { insider: false, claimed: RICH, receipts: 20 },
      { insider: true, claimed: RICH, receipts: 20 },
    ])
    const { database } = seller.market.test.chain
    const outcomes = decodeOutcomes(database.indexed(OUTCOMES, operatorOutcomesKey(SHOP)))
    expect(outcomes).toMatchObject({ delivered: 0, payers: 0, volume: 0n })
    expect(outcomes).toMatchObject({ provenCallsByTab: 20, payersByTab: 1, volumeByTab: RICH, burnedByTab: 400_000n })
  })
})

describe('attack 30, linking the calls of a tab:', () => {
  it('the block of a claim has totals and hashes, and nothing of what was asked and answered', async () => {
    const { shop, claimer } = await openShop()
    const tab = await shop.openTab({}, 6)
    const calls: TabPaidCall[] = []
    for (let i = 1; i <= 5; i++) {
      const call = shop.order(tab, `ok:the-question-of-${i}`)
      calls.push(call)
      expect((await shop.till.settle(call)).ok).toBe(true)
    }
    const { entries, bytes } = await mineClaim(shop, claimer)
    expect(entries).toMatchObject([{ tabId: tab.tabId, receipts: 5, failed: 0 }])
    const receipts = await shop.rail.receiptsFrom(tab.tabId, 1, 10)
    expect(receipts).toHaveLength(5)
    const has = (what: Uint8Array): boolean => bytes.includes(what)
    for (const [i, { receipt, signature }] of receipts.entries()) {
      const { request, payment } = calls[i]!
      const answered = await shop.level.call(tab.tabId, i + 1)
      const hidden = [
        ...[encodeText('the-question-of'), encodeText(request), payment.voucher.secret, fromHex(receipt.resultHash)],
        ...[fromHex(answered!.requestHash), fromHex(signature), encodeTabReceipt(receipt)],
      ]
      expect(hidden.map(has)).toEqual(hidden.map(() => false))
      // Of the last voucher the chain sees the commitment, which hides the request behind a secret.
      expect(has(fromHex(receipt.context))).toBe(i === 4)
    }
    // Where it may stand: the same search finds what is there.
    expect([tab.tabId, toHex(entries[0]!.voucher[0]!.signature)].map((hex) => has(fromHex(hex)))).toEqual([true, true])
  })
})
