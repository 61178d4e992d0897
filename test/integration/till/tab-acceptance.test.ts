import { afterEach, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { ClaimsAway } from '../../../marketplace/till/claim-store.ts'
import type { Settled } from '../../../marketplace/till/rail.ts'
import type { TabPaidCall } from '../../../marketplace/till/rails/tab/tab-call.ts'
import type { AnsweredTabRow, TabStore } from '../../../marketplace/till/rails/tab/tab-store.ts'
import { wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets, ONCE, SHOP } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { closeTabShops, TabShop, TEST_SIGNER } from '../../support/tabs.ts'
import { agentId, filled, SAMPLE, units } from '../../support/unsigned.ts'

afterEach(async () => {
  await closeTabShops()
  await closeMarkets()
})

const codeOf = (outcome: Result<Settled<AnsweredTabRow>>): string => (outcome.ok ? 'answered' : outcome.fault.code)
const bound = (store: TabStore, name: string | symbol): unknown => {
  const found = Reflect.get(store, name)
  return typeof found === 'function' ? found.bind(store) : found
}
const settle = async (shop: TabShop, call: TabPaidCall): Promise<string> => codeOf(await shop.till.settle(call))

describe('a call on a tab is taken', () => {
  it('at the price in force, with a receipt that names it', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const price = shop.market.priceOf(AGAIN)
    const call = shop.order(tab, 'ok:one')
    const outcome = await shop.till.settle(call)
    const receipt = { tabId: tab.tabId, seq: 1, n: 1, serviceId: AGAIN, outcome: 0, charged: price, cumulative: price }
    expect(outcome).toMatchObject({
      ok: true,
      value: { claim: { state: 'delivered', result: '{"echo":"ok:one"}', receipt: { receipt } }, replayed: false },
    })
    const state = await shop.rail.stateOf(tab.tabId)
    expect(state).toMatchObject({ charged: price, receipts: 1, nextSeq: 2, lastReceipt: { receipt } })
    expect(state?.voucher).toMatchObject({ seq: 1, ceiling: price })
  })

  it('with the ceiling of an earlier voucher, as long as that covers it', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const price = shop.market.priceOf(AGAIN)
    expect(await settle(shop, shop.order(tab, 'ok:a', { ceiling: price * 2n }))).toBe('answered')
    expect(await settle(shop, shop.order(tab, 'ok:b', { ceiling: price }))).toBe('answered')
    expect(await settle(shop, shop.order(tab, 'ok:c', { ceiling: price }))).toBe('tabcall/ceiling-low')
  })

  it('in any order of its numbers', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const calls = ['ok:1', 'ok:2', 'ok:3'].map((request) => shop.order(tab, request))
    for (const call of calls.toReversed()) expect(await settle(shop, call)).toBe('answered')
    const receipts = await shop.rail.receiptsFrom(tab.tabId, 1, 10)
    expect(receipts.map(({ receipt }) => [receipt.n, receipt.seq])).toEqual([
      [1, 3],
      [2, 2],
      [3, 1],
    ])
    expect((await shop.rail.stateOf(tab.tabId))?.nextSeq).toBe(4)
  })

  it('and told to come again where another replica took it over while the store was away', async () => {
    let asked = 0
    const wrapTabs = (store: TabStore): TabStore =>
      new Proxy(store, {
        get: (target, name) => {
          if (name !== 'begin') return bound(target, name)
          return async () => {
            asked += 1
            if (asked === 1) throw new ClaimsAway(fault('market/claims-away', { reason: 'no answer' }))
            return false
          }
        },
      })
    const shop = await TabShop.open({ wrapTabs })
    const tab = await shop.openTab()
    let told = ''
    void settle(shop, shop.order(tab, 'ok')).then((code) => (told = code))
    await until('the call is answered', async () => {
      await shop.market.pass(1_000)
      return told !== ''
    })
    expect([told, asked, shop.market.workbench.begun]).toEqual(['tabcall/under-way', 2, []])
  })

  it('once its opening is mined, for which it waits', async () => {
    const shop = await TabShop.open()
    const tab = await shop.opening()
    await shop.market.submit(tab.opening)
    const answer = settle(shop, shop.order(tab, 'ok', { transaction: tab.tabId }))
    await shop.market.quiet()
    expect(shop.market.workbench.begun).toEqual([])
    await shop.market.mineWaiting()
    expect(await answer).toBe('answered')
  })

  it('once the top-up that it came with is mined', async () => {
    const shop = await TabShop.open({ prices: { [AGAIN]: 4_000n } })
    const price = shop.market.priceOf(AGAIN)
    const tab = await shop.openTab({ deposit: units(price) })
    expect(await settle(shop, shop.order(tab, 'ok:1'))).toBe('answered')
    const late = shop.order(tab, 'ok:2')
    expect(await settle(shop, late)).toBe('tabcall/deposit-low')
    const fund = await shop.market.test.tx(wallet(1), 'tab_fund', { tabId: tab.tabId, amount: units(price) })
    await shop.market.submit(fund)
    const answer = settle(shop, { ...late, payment: { ...late.payment, transaction: fund.txId } })
    await shop.market.quiet()
    await shop.market.mineWaiting()
    expect(await answer).toBe('answered')
  })
})

describe('a call on a tab is refused, and nothing is charged', () => {
  it.each([
    ['tabcall/seq-window', { seq: 257 }],
    ['tabcall/ceiling-low', { ceiling: 1n }],
    ['tabcall/deposit-low', { ceiling: 100_000_001n }],
    ['tabcall/signature', { seed: new Uint8Array(32).fill(3) }],
    ['pay/not-found', { transaction: filled(5) }],
  ] as const)('with %s', async (code, parts) => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    expect(await settle(shop, shop.order(tab, 'ok', parts as never))).toBe(code)
    expect(await shop.rail.stateOf(tab.tabId)).toMatchObject({ charged: 0n, receipts: 0, nextSeq: 1 })
    expect(shop.market.workbench.begun).toEqual([])
  })

  it('if its tab is not on chain', async () => {
    const shop = await TabShop.open()
    const tab = await shop.opening()
    expect(await settle(shop, shop.order(tab, 'ok'))).toBe('tabcall/unknown')
    expect(await shop.rail.stateOf(tab.tabId)).toBeNull()
  })

  it('if its tab is with another agent', async () => {
    const shop = await TabShop.open()
    const other = agentId('other')
    const agent = { agentId: other, name: 'Other', endpoint: '', capabilities: 1, payout: wallet(3).address }
    const { test } = shop.market
    const register = await test.tx(wallet(3), 'agent_register', { ...agent, settlers: [] })
    const terms = { receiptKey: TEST_SIGNER.key, minDeposit: units(0), minCloseDelay: 400 }
    await shop.market.mine([register, await test.tx(wallet(3), 'tab_terms', { agentId: other, ...terms })])
    const tab = await shop.openTab({ agentId: other })
    expect(await settle(shop, shop.order(tab, 'ok'))).toBe('tabcall/foreign')
  })

  it('if its tab was opened under another receipt key', async () => {
    const shop = await TabShop.open()
    await shop.publishTerms({ receiptKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a' as never })
    const tab = await shop.openTab()
    expect(await settle(shop, shop.order(tab, 'ok'))).toBe('tabcall/receipt-key')
  })

  it('if the transaction that it came with is of another kind', async () => {
    const shop = await TabShop.open()
    const [tab, other] = [await shop.openTab(), await shop.opening()]
    await shop.market.submit(other.opening)
    expect(await settle(shop, shop.order(tab, 'ok', { transaction: other.tabId }))).toBe('tabcall/transaction')
  })

  it('if its tab closes, from the moment that the close waits to be mined', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    await shop.market.submit(await shop.market.test.tx(wallet(1), 'tab_close', { tabId: tab.tabId }))
    const call = shop.order(tab, 'ok')
    expect(await settle(shop, call)).toBe('tabcall/closing')
    await shop.market.mineWaiting()
    expect(await settle(shop, call)).toBe('tabcall/closing')
  })

  it('if its tab ends too soon for a claim', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const { expiresAt } = shop.record(tab) as { expiresAt: number }
    // 240 blocks, and 10 for the longest work of a watched service.
    await shop.market.test.mineTo(expiresAt - 251)
    expect(await settle(shop, shop.order(tab, 'ok:in time'))).toBe('answered')
    await shop.market.mine()
    expect(await settle(shop, shop.order(tab, 'ok:late'))).toBe('tabcall/expiring')
  })

  it('if its request is unusable, or its service is closed', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    expect(await settle(shop, shop.order(tab, 'refuse'))).toBe('service/invalid-request')
    expect(await settle(shop, shop.order(tab, 'ok', { serviceId: 'node-test-closed' }))).toBe('service/unavailable')
  })

  it('with the state that lets the client go on', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const price = shop.market.priceOf(AGAIN)
    await shop.settle(tab, 'ok:1')
    await shop.settle(tab, 'fail')
    const refused = await shop.till.settle(shop.order(tab, 'ok:other', { seq: 1 }))
    expect(refused).toMatchObject({ ok: false, fault: { code: 'tabcall/seq-used', detail: { seq: 1, nextSeq: 3 } } })
    const state = await shop.rail.stateOf(tab.tabId)
    expect(state).toMatchObject({ charged: price, receipts: 2, nextSeq: 3, deposit: 100_000_000n, closesAt: 0 })
    expect(state?.voucher).toMatchObject({ seq: 2, ceiling: 2n * price })
    expect(state?.lastReceipt?.receipt).toMatchObject({ n: 2, outcome: 1, charged: 0n, cumulative: price })
  })
})

describe('queries of a tab', () => {
  it('count if the voucher key signed them within five minutes', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const nowMs = shop.market.time.now()
    const code = (query: Parameters<TabShop['rail']['verifyQuery']>[0]) => shop.rail.verifyQuery(query, 'state')?.code
    expect(code(shop.query(tab, 'state', nowMs - 300_000))).toBeUndefined()
    expect(code(shop.query(tab, 'state', nowMs - 300_001))).toBe('tabcall/query-time')
    expect(code(shop.query(tab, 'state', nowMs + 300_001))).toBe('tabcall/query-time')
    expect(code(shop.query(tab, 'refund'))).toBe('tabcall/query-signature')
    expect(code({ ...shop.query(tab, 'state'), tabId: filled(8) })).toBe('tabcall/unknown')
  })

  it('about the tab of another seller are refused: this one could never claim it', async () => {
    const shop = await TabShop.open()
    const { market } = shop
    const owner = wallet(3)
    const other = agentId('other')
    const record = { ...SAMPLE.agent_register(), agentId: other, payout: owner.address, settlers: [] }
    await market.mine([await market.test.tx(owner, 'agent_register', record)])
    const terms = { agentId: other, receiptKey: TEST_SIGNER.key, minDeposit: units(1_000_000), minCloseDelay: 400 }
    await market.mine([await market.test.tx(owner, 'tab_terms', terms)])
    const tab = await shop.openTab({ agentId: other })
    const fault = { code: 'tabcall/foreign', detail: { tabId: tab.tabId, got: other, expected: SHOP } }
    expect(await shop.rail.refund(shop.query(tab, 'refund'))).toEqual({ ok: false, fault })
    expect(await shop.level.unclaimed()).toEqual([])
  })

  it('mark a tab for a claim that closes it, and end its calls', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    await shop.settle(tab, 'ok')
    expect((await shop.rail.refund(shop.query(tab, 'state'))).ok).toBe(false)
    expect(await shop.rail.refund(shop.query(tab, 'refund'))).toMatchObject({ ok: true, value: { receipts: 1 } })
    expect(await shop.level.unclaimed()).toMatchObject([{ tabId: tab.tabId, refundAskedAtMs: shop.market.time.now() }])
    expect(await settle(shop, shop.order(tab, 'ok:late'))).toBe('tabcall/closing')
    await shop.restart()
    expect(await settle(shop, shop.order(tab, 'ok:later'))).toBe('tabcall/closing')
  })
})

describe('what is risked on a young deposit', () => {
  it('grows with its depth, over all tabs of its block', async () => {
    const prices = { [AGAIN]: 40_000n }
    const shop = await TabShop.open({ prices })
    const tabs = [await shop.opening(), await shop.opening()] as const
    await shop.market.mine(tabs.map(({ opening }) => opening))
    const [one, other] = tabs
    expect(await settle(shop, shop.order(one, 'ok:1'))).toBe('answered')
    expect(await settle(shop, shop.order(other, 'ok:2'))).toBe('answered')
    const third = shop.order(one, 'ok:3')
    expect(await shop.till.settle(third)).toMatchObject({
      ok: false,
      fault: { code: 'tabcall/unconfirmed', detail: { confirmations: 1, needed: 6 } },
    })
    await shop.restart()
    expect(await settle(shop, shop.order(other, 'ok:4'))).toBe('tabcall/unconfirmed')
    for (let i = 0; i < 5; i++) await shop.market.mine()
    expect(await settle(shop, third)).toBe('answered')
  })

  it('counts a top-up from its own block on', async () => {
    const shop = await TabShop.open({ prices: { [AGAIN]: 60_000n } })
    const price = shop.market.priceOf(AGAIN)
    const tab = await shop.openTab({ deposit: units(price) }, 6)
    expect(await settle(shop, shop.order(tab, 'ok:1'))).toBe('answered')
    const { test } = shop.market
    await shop.market.mine([await test.tx(wallet(1), 'tab_fund', { tabId: tab.tabId, amount: units(price * 3n) })])
    expect(await settle(shop, shop.order(tab, 'ok:2'))).toBe('answered')
    const third = shop.order(tab, 'ok:3')
    expect(await settle(shop, third)).toBe('tabcall/unconfirmed')
    await shop.restart()
    expect(await settle(shop, third)).toBe('tabcall/unconfirmed')
    for (let i = 0; i < 5; i++) await shop.market.mine()
    expect(await settle(shop, third)).toBe('answered')
  })
})

describe('charges', () => {
  it('are what the service names, if that is less than the price', async () => {
    const shop = await TabShop.open({ prices: { [AGAIN]: 2_000n } })
    const { definition } = shop.market.shop.offer(AGAIN) as { definition: object }
    const charges = [500n, 0n, 9_000n]
    Object.assign(definition, { usedOnTab: () => ({ times: charges.shift(), of: 2_000n }) })
    const tab = await shop.openTab()
    const price = shop.market.priceOf(AGAIN)
    const calls = [shop.order(tab, 'ok:1'), shop.order(tab, 'ok:2'), shop.order(tab, 'ok:3')]
    for (const call of calls) await shop.till.settle(call)
    const receipts = await shop.rail.receiptsFrom(tab.tabId, 1, 3)
    expect(receipts.map(({ receipt }) => receipt.charged)).toEqual([price / 4n, 0n, price])
    expect(receipts.at(-1)?.receipt.cumulative).toBe(price / 4n + price)
  })

  it('are nothing for a failure, whose receipt says so', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const outcome = await shop.settle(tab, 'fail', { serviceId: ONCE })
    expect(outcome).toMatchObject({
      ok: true,
      value: { claim: { state: 'failed', reason: 'service/failed', result: null, receipt: { receipt: { n: 1 } } } },
    })
    expect(await shop.rail.stateOf(tab.tabId)).toMatchObject({ charged: 0n, receipts: 1 })
    expect(shop.level.peek(tab.tabId)).toMatchObject({ reserved: 0n })
  })
})

it('the shop of these tests is the agent of its tabs', async () => {
  const shop = await TabShop.open()
  expect(shop.record(await shop.openTab())).toMatchObject({ agentId: SHOP, receiptKey: TEST_SIGNER.key })
})
