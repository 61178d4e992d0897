import { afterEach, expect, it, vi } from 'vitest'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import { encodeTabReceipt, tabReceiptsRoot } from '../../../consensus/tx/tab-messages.ts'
import { Claimer } from '../../../marketplace/till/rails/tab/claimer.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../../marketplace/till/settings.ts'
import { wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { closeTabShops, TabShop } from '../../support/tabs.ts'

const PRICE_MICROS = 2_000n

afterEach(closeTabShops)
afterEach(closeMarkets)

it('calls that the rail answered are claimed when their payer asks for its refund, and the tab ends', async () => {
  const shop = await TabShop.open()
  const { market, store } = shop
  const { chain } = market.test
  const faults: Fault[] = []
  const claimer = new Claimer({
    ...{ chain, store, shop: market.shop, sender: market.sender, sink: market.mempool, clock: market.time },
    onFault: (cause) => faults.push(cause),
  })
  const tab = await shop.openTab({}, 6)
  for (const request of ['ok:1', 'fail', 'ok:2']) await shop.settle(tab, request)
  const row = await store.tab(tab.tabId)
  expect(row).toMatchObject({ receipts: 3 })
  expect(row?.charged).toBeGreaterThan(0n)
  expect(await shop.rail.refund(shop.query(tab, 'refund'))).toMatchObject({ ok: true })
  claimer.check()
  await vi.waitFor(() => expect(market.sender.waiting).toHaveLength(1))
  const [claim] = market.sender.waiting
  if (claim?.body.kind !== 'tab_claim') throw new Error('no claim')
  const [entry] = claim.body.payload.entries
  const receipts = (await store.receiptsFrom(tab.tabId, 1, 10)).map(({ receipt }) => receipt)
  const root = tabReceiptsRoot(receipts.map(encodeTabReceipt))
  expect(entry).toMatchObject({ claimed: row?.charged, receipts: 3, failed: 1, close: true, root })
  const before = market.test.balance(wallet(1).address)
  await market.mineWaiting()
  expect(shop.record(tab)).toBeUndefined()
  expect(market.test.balance(wallet(1).address) - before).toBe(100_000_000n - row!.charged)
  await claimer.stop()
  expect(faults).toEqual([])
})

it('a tab is claimed at once when much is charged on it, and its calls wait for the claim', async () => {
  const most = 4n * PRICE_MICROS
  const shop = await TabShop.open({
    settings: { confirmationSteps: [{ belowUsdMicros: most, confirmations: 1 }], confirmationsMax: 2 },
  })
  const { market, store, rail } = shop
  const { chain } = market.test
  const claimer = new Claimer({
    ...{ chain, store, shop: market.shop, sender: market.sender, sink: market.mempool, clock: market.time },
    onFault: () => {},
    riskLimit: () => rail.unclaimedMost,
  })
  expect(rail.unclaimedMost).toBe(4n * market.priceOf(AGAIN))
  const tab = await shop.openTab({}, 3)
  for (const request of ['ok:1', 'ok:2']) await shop.settle(tab, request)
  claimer.check()
  await market.quiet()
  expect(market.sender.waiting).toHaveLength(0)
  await shop.settle(tab, 'ok:3')
  claimer.check()
  await vi.waitFor(() => expect(market.sender.waiting).toHaveLength(1))
  expect(await shop.settle(tab, 'ok:4')).toMatchObject({ ok: true })
  const beyond = shop.settle(tab, 'ok:5')
  await market.quiet()
  expect((await store.tab(tab.tabId))?.receipts).toBe(4)
  await market.mineWaiting()
  expect(await beyond).toMatchObject({ ok: true })
  // Without a claim they are told to come again.
  await shop.settle(tab, 'ok:6')
  await shop.settle(tab, 'ok:7')
  let refused: object | null = null
  void shop.settle(tab, 'ok:8').then((outcome) => (refused = outcome))
  // A thread checks the voucher before the call begins to wait.
  await until('the call is refused', async () => {
    await market.pass(DEFAULT_MARKET_SETTINGS.settleWaitMs)
    return refused !== null
  })
  expect(refused).toMatchObject({ fault: { code: 'tabcall/unclaimed' } })
  await claimer.stop()
})
