import { afterEach, describe, expect, it } from 'vitest'
import { ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { encodeTabReceipt, tabChain, tabReceiptsRoot } from '../../../consensus/tx/tab-messages.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import { TAB_TOTALS } from '../../../marketplace/ledger/tab-records.ts'
import { wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets, ONCE } from '../../support/market.ts'
import { type SellerParts, TabSeller, type TestTab } from '../../support/tab-seller.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'
import { serviceId } from '../../support/unsigned.ts'

const FINAL = 40
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Due after ten minutes: above a hundred times the fee of a claim. */
const RICH = 20_000_000n
/** Worth several fees of a claim, and not due before its age or its end. */
const SMALL = 1_000_000n
const DEPOSIT = 100_000_000n
const PAYOUT = wallet(6)

const sellers: TabSeller[] = []

afterEach(async () => {
  for (const seller of sellers.splice(0)) await seller.stop()
  await closeMarkets()
})

async function opened(parts: SellerParts = {}): Promise<TabSeller> {
  const seller = await TabSeller.open({ operator: { payout: PAYOUT.address }, ...parts })
  sellers.push(seller)
  return seller
}

async function receiptsOf(seller: TabSeller, { tabId }: TestTab) {
  return (await seller.store.receiptsFrom(tabId, 1, 1_000)).map(({ receipt }) => receipt)
}

const totalsOf = ({ market }: TabSeller) => market.test.chain.database.get(TAB_TOTALS, undefined)
const balance = ({ market }: TabSeller, { address }: { readonly address: string }) =>
  market.test.balance(address as never)

describe('what is charged on a tab', () => {
  it('is claimed with the receipts of exactly these calls; what is paid, burned and returned is exact', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    await seller.serve(tab, [
      { charge: RICH },
      { charge: null },
      { charge: 300_001n, serviceId: ONCE },
      { charge: 50_000n },
    ])
    const before = balance(seller, PAYOUT)
    await seller.ripen()
    await seller.check()
    expect(seller.waiting.map(({ body }) => body.payload.entries.length)).toEqual([1])
    await seller.mineWaiting()
    const sum = RICH + 350_001n
    // One percent, rounded up: more than 20,000 for each of the three counted calls.
    const burned = (sum + 99n) / 100n
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: sum, receipts: 4, closesAt: 0 })
    expect(balance(seller, PAYOUT) - before).toBe(sum - burned)
    expect(totalsOf(seller)).toEqual({ open: 1, locked: DEPOSIT - sum, claimed: sum, burned })
    const root = tabReceiptsRoot((await receiptsOf(seller, tab)).map(encodeTabReceipt))
    expect(seller.tabOnChain(tab)?.chain).toBe(tabChain(ZERO_HEX_32 as Hash, { root, receipts: 4, claimed: sum }))
    // The payer asks for the rest.
    await seller.store.mark(tab.tabId, { refundAskedAtMs: seller.market.time.nowMs })
    const payer = balance(seller, tab.payer)
    await seller.check()
    await seller.mineWaiting()
    expect(seller.tabOnChain(tab)).toBeUndefined()
    expect(balance(seller, tab.payer) - payer).toBe(DEPOSIT - sum)
    expect(totalsOf(seller)).toEqual({ open: 0, locked: 0n, claimed: sum, burned })
    expect(seller.faults).toEqual([])
  })

  it('is claimed again and again while calls go on, never twice', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    for (let i = 1; i <= 4; i++) {
      await seller.serve(tab, [{ charge: RICH }])
      await seller.ripen()
      await seller.mineWaiting(2)
      expect(seller.tabOnChain(tab)).toMatchObject({ claimed: BigInt(i) * RICH, receipts: i })
    }
    await seller.mineWaiting(5)
    expect(seller.waiting).toEqual([])
    expect(await seller.store.claims()).toHaveLength(4)
  })

  it('waits for the claim that is under way, then goes into the next one', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.check()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.check()
    expect(seller.waiting).toHaveLength(1)
    await seller.mineWaiting()
    expect(seller.tabOnChain(tab)).toMatchObject({ receipts: 1 })
    expect(seller.waiting).toHaveLength(1)
    await seller.mineWaiting()
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: 2n * RICH, receipts: 2 })
  })

  it('of more tabs than fit goes into two claims, and the rest waits for them', async () => {
    const seller = await opened()
    const tabs: TestTab[] = []
    for (let i = 0; i < 20; i++) tabs.push(...(await seller.openTabs([1, 3, 4, 5, 7, 8, 9])))
    for (const tab of tabs) await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.check()
    expect(seller.waiting.map(({ body }) => body.payload.entries.length)).toEqual([64, 64])
    await seller.mineWaiting()
    expect(seller.waiting.map(({ body }) => body.payload.entries.length)).toEqual([12])
    await seller.mineWaiting()
    expect(tabs.map((tab) => seller.tabOnChain(tab)?.claimed)).toEqual(tabs.map(() => RICH))
  })

  it('for more than eight services is split into entries', async () => {
    const model = TEST_SERVICES.find(({ serviceId: id }) => id === AGAIN)!
    const services = Array.from({ length: 10 }, (_, i) => ({ ...model, serviceId: serviceId(`node-many-${i}`) }))
    const seller = await opened({ services })
    const tab = await seller.openTab()
    await seller.serve(
      tab,
      services.map(({ serviceId }) => ({ charge: SMALL * 2n, serviceId })),
    )
    await seller.ripen()
    await seller.check()
    const [claim] = seller.waiting
    expect(claim?.body.payload.entries.map((entry) => [entry.services.length, entry.receipts])).toEqual([
      [8, 8],
      [2, 10],
    ])
    await seller.mineWaiting()
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: 20n * SMALL, receipts: 10 })
    expect(seller.receiptOf(claim!.txId)?.entries).toEqual([0, 0])
  })

  it('is final forty blocks after its claim, and not before', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.mineWaiting(2)
    expect(seller.tabOnChain(tab)).toMatchObject({ receipts: 1 })
    await seller.mineEmpty(FINAL - 1)
    expect([(await seller.row(tab))?.finalReceipts, (await seller.store.claims()).length]).toEqual([0, 1])
    await seller.mineEmpty(1)
    expect([(await seller.row(tab))?.finalReceipts, (await seller.store.claims()).length]).toEqual([1, 0])
    expect(await seller.store.unclaimed()).toEqual([])
  })
})

describe('a busy tab', () => {
  it('is claimed once in ten minutes, not in every block: below 6,000 bytes of claims for 1,000 calls', async () => {
    const seller = await opened()
    const tab = await seller.openTab(1, 400n * DEPOSIT)
    const [blocks, callsOfBlock] = [600, 3]
    const bytes = new Map<string, number>()
    const minutes: number[] = []
    // A block each three seconds for half an hour. The calls of each block are worth above a hundred fees.
    for (let i = 1; i <= blocks; i++) {
      await seller.serve(
        tab,
        Array.from({ length: callsOfBlock }, () => ({ charge: RICH })),
      )
      await seller.market.pass(3_000)
      await seller.mineWaiting()
      const fresh = seller.waiting.filter(({ txId }) => !bytes.has(txId))
      for (const claim of fresh) {
        bytes.set(claim.txId, encodeTransaction(claim).length)
        minutes.push((i * 3_000) / MINUTE)
      }
    }
    expect(minutes).toEqual([10, 20, 30])
    await seller.mineWaiting()
    const calls = blocks * callsOfBlock
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: BigInt(calls) * RICH, receipts: calls })
    const sum = [...bytes.values()].reduce((all, one) => all + one, 0)
    expect((sum * 1_000) / calls).toBeLessThan(6_000)
    expect(seller.faults).toEqual([])
  })

  it('is not claimed for its worth alone before its first call is ten minutes old', async () => {
    const seller = await opened()
    const tab = await seller.openTab(1, 400n * DEPOSIT)
    await seller.serve(tab, [{ charge: 100n * RICH }])
    await seller.market.pass(10 * MINUTE - 1)
    await seller.mineWaiting(3)
    expect(seller.waiting).toEqual([])
    await seller.market.pass(1)
    await seller.mineWaiting(2)
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: 100n * RICH, receipts: 1 })
  })
})

describe('a tab with little to claim', () => {
  it('is claimed after six hours, in use or not, and after ten minutes once it is worth a claim', async () => {
    const seller = await opened()
    const [busy, idle] = (await seller.openTabs([1, 3], DEPOSIT, 28_800)) as [TestTab, TestTab]
    await seller.serve(busy, [{ charge: SMALL }])
    await seller.serve(idle, [{ charge: SMALL }])
    await seller.market.pass(9 * MINUTE)
    await seller.serve(busy, [{ charge: SMALL }])
    await seller.check()
    expect(seller.waiting).toEqual([])
    await seller.market.pass(MINUTE)
    await seller.check()
    expect(seller.waiting).toEqual([])
    await seller.serve(busy, [{ charge: RICH }])
    await seller.check()
    await seller.mineWaiting()
    expect([busy, idle].map((tab) => seller.tabOnChain(tab)?.receipts)).toEqual([3, 0])
    await seller.market.pass(6 * HOUR - 11 * MINUTE)
    await seller.check()
    expect(seller.waiting).toEqual([])
    await seller.market.pass(MINUTE)
    await seller.check()
    await seller.mineWaiting()
    expect(seller.tabOnChain(idle)).toMatchObject({ claimed: SMALL, receipts: 1 })
  })

  it('is claimed before it expires', async () => {
    const seller = await opened()
    const tab = await seller.openTab()
    await seller.serve(tab, [{ charge: SMALL }])
    const due = seller.tabOnChain(tab)!.expiresAt
    await seller.market.test.mineTo(due - 241)
    await seller.quiet()
    expect(seller.waiting).toEqual([])
    await seller.mineWaiting(2)
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: SMALL })
    await seller.market.test.mineTo(due)
    expect(seller.tabOnChain(tab)).toBeUndefined()
  })
})

describe('a tab that has ended', () => {
  it('is noted as ended forty blocks after consensus returned what was left', async () => {
    const seller = await opened()
    const [used, fresh] = (await seller.openTabs([1, 3])) as [TestTab, TestTab]
    await seller.serve(used, [{ charge: RICH }])
    await seller.ripen()
    await seller.mineWaiting(2)
    await seller.market.test.mineTo(seller.tabOnChain(used)!.expiresAt + FINAL - 1)
    await seller.quiet()
    expect((await seller.row(used))?.endedAtMs).toBeNull()
    await seller.mine()
    expect((await seller.row(used))?.endedAtMs).toBe(seller.market.time.nowMs)
    // A tab without calls has no row, and gets none.
    expect(await seller.row(fresh)).toBeUndefined()
  })

  it('is noted as ended forty blocks after the claim that closed it, also by a node that started meanwhile', async () => {
    const first = await opened()
    const tab = await first.openTab()
    await first.serve(tab, [{ charge: RICH }])
    await first.store.mark(tab.tabId, { refundAskedAtMs: 1 })
    await first.mineWaiting(2)
    expect(first.tabOnChain(tab)).toBeUndefined()
    const seller = await first.restart()
    sellers.push(seller)
    await seller.mineEmpty(FINAL - 1)
    expect((await seller.row(tab))?.endedAtMs).toBeNull()
    await seller.mineEmpty(1)
    expect(await seller.row(tab)).toMatchObject({ endedAtMs: seller.market.time.nowMs })
    expect(await seller.store.claims()).toEqual([])
  })
})
