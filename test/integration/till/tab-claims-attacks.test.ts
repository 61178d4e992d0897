import { afterEach, describe, expect, it } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../../config/networks/rules.ts'
import { baseFeeAfter } from '../../../consensus/block/base-fee.ts'
import { outcomeCode } from '../../../consensus/ledger/outcome.ts'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import type { ClaimEntry } from '../../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { weightOf } from '../../../consensus/tx/weight.ts'
import type { WalletKey } from '../../../src/crypto/wallet-key.ts'
import { wallet } from '../../support/chain.ts'
import { flood, mineFlooded, smallBlocks } from '../../support/flood.ts'
import { closeMarkets, SHOP } from '../../support/market.ts'
import { overtake } from '../../support/mempool.ts'
import { type SellerParts, TabSeller, type TestTab } from '../../support/tab-seller.ts'
import { agentId, filled, SAMPLE, units } from '../../support/unsigned.ts'

/** Due after ten minutes, and worth several fees but not due then. */
const RICH = 20_000_000n
const SMALL = 1_000_000n
const DEPOSIT = 100_000_000n
const OWNER = wallet(2)
const SETTLER = wallet(7)
const PAYOUT = wallet(6)

const sellers: TabSeller[] = []

afterEach(async () => {
  for (const seller of sellers.splice(0).reverse()) await seller.stop()
  await closeMarkets()
})

async function opened(parts: SellerParts = {}): Promise<TabSeller> {
  const seller = await TabSeller.open(parts)
  sellers.push(seller)
  return seller
}

async function replica(of: TabSeller, parts: SellerParts): Promise<TabSeller> {
  const next = await of.replica(parts)
  sellers.push(next)
  return next
}

/** Gives the agent another owner, payout or settlers. */
function update(seller: TabSeller, signer: WalletKey, change: object): Promise<void> {
  const { agent } = seller.market.shop
  const { name, endpoint, capabilities, owner, payout, settlers } = agent!
  const payload = { agentId: SHOP, name, endpoint, capabilities, owner, payout, settlers, ...change }
  return seller.market.test.tx(signer, 'agent_update', payload).then((tx) => seller.mine([tx]))
}

const codesOf = (seller: TabSeller, { txId }: Pick<Transaction, 'txId'>) =>
  seller.receiptOf(txId)?.entries.map((number) => outcomeCode(number) ?? number)

describe('attack 2, closing with calls in flight:', () => {
  it('what is answered is claimed at once, and what is answered later before the delay ends', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: SMALL }])
    const inFlight = await seller.begin(tab, { charge: SMALL })
    await seller.mine([await seller.closeTx(tab)])
    const { closesAt } = seller.tabOnChain(tab)!
    expect(closesAt).toBe(seller.market.test.height + 400)
    expect(seller.waiting).toHaveLength(1)
    await seller.mineWaiting()
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: SMALL, receipts: 1 })
    await seller.finish(inFlight)
    await seller.mineWaiting(2)
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: 2n * SMALL, receipts: 2, closesAt })
    const before = seller.market.test.balance(tab.payer.address)
    await seller.market.test.mineTo(closesAt)
    expect(seller.market.test.balance(tab.payer.address) - before).toBe(DEPOSIT - 2n * SMALL)
  })

  it('a refund that is asked for does not end the tab while a call is under way', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: SMALL }])
    const inFlight = await seller.begin(tab, { charge: SMALL })
    await seller.store.mark(tab.tabId, { refundAskedAtMs: 1 })
    await seller.check()
    expect(seller.waiting).toEqual([])
    await seller.finish(inFlight)
    await seller.check()
    expect(seller.waiting[0]?.body.payload.entries).toMatchObject([{ claimed: 2n * SMALL, close: true }])
  })
})

it('a top-up that a reorganisation took costs the seller what it charged on it, and no more', async () => {
  const seller = await opened()
  const { test } = seller.market
  const tab = await seller.openTab(1, 100_000_000n)
  await seller.mineEmpty(45)
  await seller.serve(tab, [{ charge: 90_000_000n }])
  const fund = await test.tx(tab.payer, 'tab_fund', { tabId: tab.tabId, amount: units(20_000_000) })
  await seller.mine([fund])
  await seller.serve(tab, [{ charge: 15_000_000n }])
  await overtake(test, 1, [[], []])
  seller.market.mempool.drop(fund.txId)
  const { nonce } = fund.body
  await seller.mine([await test.tx(tab.payer, 'tab_close', { tabId: tab.tabId }, { nonce })])
  expect(seller.waiting[0]?.body.payload.entries).toMatchObject([{ claimed: 90_000_000n, receipts: 1, close: false }])
  await seller.mineWaiting()
  expect(seller.tabOnChain(tab)).toMatchObject({ claimed: 90_000_000n, deposit: 100_000_000n })
  // The operator is told of the receipt that cannot be claimed.
  const { tabId } = tab
  expect(seller.faults[0]).toEqual({ code: 'market/tab-receipts', detail: { tabId, n: 2 } })
})

it('the tab of another seller is not claimed, even if its payer is said to want it closed', async () => {
  const seller = await opened()
  const { test, shop } = seller.market
  const owner = wallet(3)
  const other = agentId('other')
  const { name, endpoint, capabilities } = shop.agent!
  const record = { agentId: other, name, endpoint, capabilities, payout: owner.address, settlers: [] }
  await seller.mine([await test.tx(owner, 'agent_register', record)])
  await seller.mine([await test.tx(owner, 'tab_terms', SAMPLE.tab_terms({ agentId: other }))])
  const opening = await test.tx(wallet(1), 'tab_open', SAMPLE.tab_open({ agentId: other }))
  await seller.mine([opening])
  await seller.store.mark(opening.txId, { refundAskedAtMs: 1 })
  await seller.check()
  expect(seller.waiting).toEqual([])
})

it('a refund does not end the tab with what was on disk before a call ended', async () => {
  const seller = await opened()
  const tab = await seller.openTab()
  await seller.serve(tab, [{ charge: SMALL }])
  const inFlight = await seller.begin(tab, { charge: SMALL })
  await seller.store.mark(tab.tabId, { refundAskedAtMs: 1 })
  // The claimer looks while the end of the call is being written.
  const ended = seller.finish(inFlight)
  seller.claimer.check()
  await ended
  await seller.quiet()
  await seller.check()
  expect(seller.waiting.flatMap(({ body }) => body.payload.entries)).toMatchObject([
    { claimed: 2n * SMALL, receipts: 2, close: true },
  ])
})

describe('attack 3, waiting until the seller is offline:', () => {
  /** The agent of a seller with a second settler, and a tab with something due. */
  async function withTwoSettlers(): Promise<{ first: TabSeller; tab: TestTab }> {
    const first = await opened()
    await update(first, OWNER, { settlers: [OWNER.address, SETTLER.address] })
    const tab = await first.openTab()
    await first.serve(tab, [{ charge: RICH }])
    await first.ripen()
    return { first, tab }
  }

  it('another settler claims in its place', async () => {
    const { first, tab } = await withTwoSettlers()
    await first.claimer.stop()
    const second = await replica(first, { operator: { settler: SETTLER } })
    await second.mine([await first.closeTx(tab)])
    await second.mineWaiting()
    expect(second.tabOnChain(tab)).toMatchObject({ claimed: RICH })
  })

  it('one that takes over sends the claim that waits as it is, and makes no second one', async () => {
    const { first, tab } = await withTwoSettlers()
    await first.check()
    const [claim] = first.waiting as [Transaction]
    await first.claimer.stop()
    const second = await replica(first, { operator: { settler: SETTLER } })
    await second.check()
    expect(second.market.mempool.transactions().map(({ txId }) => txId)).toEqual([claim.txId])
    await second.mineWaiting()
    expect(second.tabOnChain(tab)).toMatchObject({ claimed: RICH })
  })

  it('a replica that others may have taken for dead sends nothing', async () => {
    let isHeld = true
    const seller = await opened({ claimer: { isHeld: () => isHeld } })
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.mineEmpty(3)
    expect(seller.waiting).toEqual([])
    isHeld = false
    await seller.check()
    expect(seller.waiting).toHaveLength(1)
  })
})

describe('attack 4, filling the blocks of the delay:', () => {
  it('the bid rises to a tenth of the value, and from half of the delay on to a quarter, and gets in', async () => {
    const tabs = { ...TAB_RULES, closeDelays: [100, 400] }
    const ruleBook = smallBlocks({ tx: { ...LAUNCH_RULES.tx, tabs } })
    const seller = await opened({ ruleBook, closeDelay: 100 })
    const tab = await seller.openTab()
    const strangers = 400n
    await seller.serve(tab, [{ charge: RICH }])
    await flood(seller.market, strangers)
    await seller.mine([await seller.closeTx(tab)])
    const { closesAt } = seller.tabOnChain(tab)!
    const costs: { readonly left: number; readonly cost: bigint }[] = []
    while (seller.tabOnChain(tab)?.claimed === 0n && seller.market.test.height < closesAt - 1) {
      await mineFlooded(seller.market, 1, strangers)
      await seller.quiet()
      const [claim] = seller.waiting
      if (claim !== undefined) costs.push({ left: closesAt - seller.market.test.height, cost: costOf(seller, claim) })
    }
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: RICH })
    const calm = costs.filter(({ left }) => left > 50).map(({ cost }) => cost)
    const pressing = costs.map(({ cost }) => cost)
    expect(largest(calm)).toBeLessThanOrEqual(RICH / 10n)
    expect(largest(pressing)).toBeGreaterThan(RICH / 10n)
    expect(largest(pressing)).toBeLessThanOrEqual(RICH / 4n)
  })
})

function costOf({ market: { test } }: TabSeller, tx: Transaction): bigint {
  const { chain, height } = test
  const { tx: rules, block } = chain.ruleBook.at(height + 1)
  return BigInt(weightOf(tx, rules)) * (baseFeeAfter(chain.head.header, block) + tx.body.tip)
}

const largest = (values: readonly bigint[]): bigint => values.reduce((most, one) => (one > most ? one : most), 0n)

describe('attack 10, a third party', () => {
  it('claims nothing, not even for the right payout', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.check()
    const [claim] = seller.waiting as [Transaction<'tab_claim'>]
    const theft = await seller.market.test.tx(wallet(9), 'tab_claim', claim.body.payload)
    await seller.mine([theft])
    expect(codesOf(seller, theft)).toEqual(['tab/foreign'])
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: 0n })
    await seller.mineWaiting()
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: RICH })
  })
})

describe('attack 16, dust tabs:', () => {
  it('a value below the fee of a claim is left to the payer, whatever happens to the tab', async () => {
    const seller = await opened()
    const tabs = await seller.openTabs([1, 3, 4], 1_000_000n)
    for (const tab of tabs) await seller.serve(tab, [{ charge: 100_000n }])
    await seller.market.pass(24 * 3_600_000)
    await seller.mine(await Promise.all(tabs.map((tab) => seller.closeTx(tab))))
    const before = tabs.map(({ payer }) => seller.market.test.balance(payer.address))
    await seller.mineEmpty(400)
    expect(seller.waiting).toEqual([])
    expect(tabs.map(({ payer }, i) => seller.market.test.balance(payer.address) - before[i]!)).toEqual(
      tabs.map(() => 1_000_000n),
    )
  })
})

describe('attack 17, many tabs that expire at one height:', () => {
  it('all are claimed before it', async () => {
    const seller = await opened()
    const payers = [1, 3, 4, 5, 7, 8, 9]
    const tabs = await seller.openTabs(Array.from({ length: 70 }, (_, i) => payers[i % payers.length] as number))
    for (const tab of tabs) await seller.serve(tab, [{ charge: SMALL }])
    const { expiresAt } = seller.tabOnChain(tabs[0]!)!
    await seller.market.test.mineTo(expiresAt - 240)
    await seller.quiet()
    expect(seller.waiting.map(({ body }) => body.payload.entries.length)).toEqual([64, 6])
    await seller.mineWaiting()
    expect(tabs.map((tab) => seller.tabOnChain(tab)?.claimed)).toEqual(tabs.map(() => SMALL))
  })
})

describe('attack 24, the settler removed or the agent sold:', () => {
  async function withSettler(): Promise<{ seller: TabSeller; tab: TestTab }> {
    const seller = await opened({ operator: { settler: SETTLER, owner: OWNER.address, payout: PAYOUT.address } })
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    return { seller, tab }
  }

  it('the removed settler pays for no claim, and the owner claims with its own key', async () => {
    const { seller, tab } = await withSettler()
    await update(seller, OWNER, { settlers: [] })
    await seller.check()
    expect(seller.waiting).toEqual([])
    expect(seller.faults.at(-1)).toEqual({ code: 'tab/foreign', detail: {} })
    await seller.claimer.stop()
    const owner = await replica(seller, { operator: { settler: OWNER } })
    await owner.check()
    await owner.mineWaiting()
    expect(owner.tabOnChain(tab)).toMatchObject({ claimed: RICH })
  })

  it('a claim that waits when the settler is removed moves nothing, and is made again by the owner', async () => {
    const { seller, tab } = await withSettler()
    await seller.check()
    const [claim] = seller.waiting as [Transaction]
    await update(seller, OWNER, { settlers: [] })
    await seller.mineWaiting()
    expect([codesOf(seller, claim), seller.tabOnChain(tab)?.claimed]).toEqual([['tab/foreign'], 0n])
    await seller.claimer.stop()
    const owner = await replica(seller, { operator: { settler: OWNER } })
    await owner.mineWaiting(2)
    expect(owner.tabOnChain(tab)).toMatchObject({ claimed: RICH })
  })

  it('after a sale the new owner claims, and the payout of the opening is paid', async () => {
    const { seller, tab } = await withSettler()
    const buyer = wallet(8)
    await update(seller, OWNER, { owner: buyer.address, payout: buyer.address, settlers: [] })
    await seller.claimer.stop()
    const next = await replica(seller, { operator: { settler: buyer, owner: buyer.address, payout: buyer.address } })
    const before = next.market.test.balance(PAYOUT.address)
    await next.check()
    await next.mineWaiting()
    expect(next.market.test.balance(PAYOUT.address) - before).toBe(RICH - RICH / 100n)
    expect(next.tabOnChain(tab)).toMatchObject({ claimed: RICH })
  })
})

describe('refunds of unused tabs', () => {
  it('that were opened in quiet blocks wait while blocks are full: asking is free, and the settler would pay', async () => {
    const strangers = 400n
    const seller = await opened({ ruleBook: smallBlocks({ tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES } }) })
    const tabs = await seller.openTabs([1, 3, 4], 1_000_000n)
    await mineFlooded(seller.market, 40, strangers)
    for (const { tabId } of tabs) await seller.store.mark(tabId, { refundAskedAtMs: 1 })
    await seller.check()
    expect(seller.waiting).toEqual([])
    // The mempool of the flood runs empty, and the fee falls.
    for (let i = 0; i < 120 && seller.waiting.length === 0; i++) await seller.mineWaiting()
    await seller.mineWaiting()
    expect(tabs.map((tab) => seller.tabOnChain(tab))).toEqual(tabs.map(() => undefined))
  })
})

it('what was charged under another agent id of the same owner is claimed', async () => {
  const seller = await opened()
  const tab = await seller.openTab()
  await seller.serve(tab, [{ charge: RICH }])
  const { name, endpoint, capabilities } = seller.market.shop.agent!
  const record = { name, endpoint, capabilities, payout: OWNER.address, settlers: [OWNER.address] }
  const other = agentId('other')
  await seller.mine([await seller.market.test.tx(OWNER, 'agent_register', { agentId: other, ...record })])
  const next = await seller.restart({ operator: { agentId: other }, published: false })
  sellers.push(next)
  await next.mine([await next.closeTx(tab)])
  await next.mineWaiting()
  expect(next.tabOnChain(tab)).toMatchObject({ claimed: RICH, receipts: 1 })
})

describe('attack 31, a claim of 64 entries', () => {
  it('of which 63 are bad pays the good one; the pool refuses it only if all are spent', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.check()
    const [claim] = seller.waiting as [Transaction<'tab_claim'>]
    const [good] = claim.body.payload.entries as [ClaimEntry]
    const bad = Array.from({ length: 63 }, (_, i) => ({ ...good, tabId: filled<TxId>(i + 1) }))
    const nonce = claim.body.nonce + 1n
    const mixed = await seller.market.test.tx(OWNER, 'tab_claim', { entries: [...bad, good] }, { nonce })
    const spent = await seller.market.test.tx(OWNER, 'tab_claim', { entries: bad }, { nonce })
    seller.market.mempool.drop(claim.txId)
    expect(await seller.market.mempool.submit(spent)).toEqual({
      ok: false,
      fault: { code: 'mempool/claim-spent', detail: {} },
    })
    expect(await seller.market.mempool.submit(mixed)).toMatchObject({ ok: true })
    // In a block the refused one would be valid: its sender pays for it.
    const first = await seller.market.test.tx(OWNER, 'tab_claim', { entries: bad }, { nonce: nonce - 1n })
    await seller.mine([first, mixed])
    expect(new Set(codesOf(seller, first))).toEqual(new Set(['tab/unknown']))
    expect(codesOf(seller, mixed)?.at(-1)).toBe(0)
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: RICH })
    expect(units(RICH)).toBe(good.claimed)
  })
})
