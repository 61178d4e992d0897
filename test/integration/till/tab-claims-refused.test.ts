import { afterEach, describe, expect, it } from 'vitest'
import type { TabStore } from '../../../marketplace/till/rails/tab/tab-store.ts'
import { seedOf } from '../../support/actors.ts'
import { closeMarkets } from '../../support/market.ts'
import { type SellerParts, TabSeller } from '../../support/tab-seller.ts'

/** Due after ten minutes: above a hundred times the fee of a claim. */
const RICH = 20_000_000n

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

describe('a claim that the chain refuses', () => {
  it('is told, and the tab is not claimed again for 1,200 blocks; other tabs are', async () => {
    const seller = await opened()
    const [bad, good] = await seller.openTabs([1, 3], 100_000_000n, 28_800)
    await seller.serve({ ...bad!, seed: seedOf(5) }, [{ charge: RICH }])
    await seller.serve(good!, [{ charge: RICH }])
    await seller.ripen()
    await seller.mineWaiting(2)
    expect([bad, good].map((tab) => seller.tabOnChain(tab!)?.claimed)).toEqual([0n, RICH])
    const detail = { tabId: bad!.tabId, outcome: 'tab/signature' }
    expect(seller.faults).toEqual([{ code: 'market/claim-failed', detail }])
    await seller.serve(good!, [{ charge: RICH }])
    await seller.ripen()
    await seller.mineWaiting(2)
    expect(seller.tabOnChain(good!)?.claimed).toBe(2n * RICH)
    expect([seller.waiting, seller.faults.length]).toEqual([[], 1])
    await seller.market.test.mineTo(seller.market.test.height + 1_200)
    await seller.quiet()
    expect(seller.waiting[0]?.body.payload.entries.map(({ tabId }) => tabId)).toEqual([bad!.tabId])
  })
})

describe('a store that lost a receipt', () => {
  it('is told; what comes before the receipt is claimed', async () => {
    const whole = await opened()
    const tab = await whole.openTab()
    await whole.serve(tab, [{ charge: RICH }, { charge: RICH }, { charge: RICH }])
    await whole.ripen()
    await whole.claimer.stop()
    const receiptsFrom: TabStore['receiptsFrom'] = async (tabId, n, limit) =>
      (await whole.store.receiptsFrom(tabId, n, limit)).filter(({ receipt }) => receipt.n !== 2)
    const store = new Proxy(whole.store, {
      get: (target, name) => (name === 'receiptsFrom' ? receiptsFrom : Reflect.get(target, name, target)),
    })
    const seller = await whole.replica({ claimer: { store } })
    sellers.push(seller)
    await seller.check()
    await whole.quiet()
    await seller.mineWaiting()
    await whole.quiet()
    expect(seller.tabOnChain(tab)).toMatchObject({ claimed: RICH, receipts: 1 })
    expect(seller.faults[0]).toEqual({ code: 'market/tab-receipts', detail: { tabId: tab.tabId, n: 2 } })
  })
})

describe('a settler that can pay for a part of its claims only', () => {
  it('sends smaller ones', async () => {
    const seller = await opened()
    const tabs = await seller.openTabs([1, 3, 4, 5, 7, 8, 9, 1])
    for (const tab of tabs) await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    const { sender, test } = seller.market
    // A fee may rise fourfold: then a claim of eight would cost 1.9 million units, and one of four 1.2 million.
    const left = 1_400_000n
    const { address } = seller.market.operator.settler
    const price = BigInt(3_000) * 33n
    const amount = (test.balance(address) - left - price) as never
    const spend = await sender.send('transfer', { to: tabs[0]!.payer.address, amount, create: false })
    expect(spend).toMatchObject({ ok: true })
    await seller.mineWaiting()
    expect(seller.waiting.map(({ body }) => body.payload.entries.length)).toEqual([4])
    await seller.mineWaiting()
    expect(tabs.filter((tab) => seller.tabOnChain(tab)?.claimed === RICH).length).toBe(4)
  })
})
