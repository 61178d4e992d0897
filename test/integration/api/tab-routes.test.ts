import { afterEach, describe, expect, it } from 'vitest'
import { ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { ask, type JsonBody, post, type Reply } from '../../support/api.ts'
import { wallet } from '../../support/chain.ts'
import { closeDoors, TabDoor, type TabPayer } from '../../support/tab-door.ts'
import { TEST_SIGNER } from '../../support/tabs.ts'
import { agentId, SAMPLE, units } from '../../support/unsigned.ts'

afterEach(closeDoors)

const codeOf = ({ status, body }: Reply): string => `${status} ${String(body.code)}`

function signed(payer: TabPayer, what: 'state' | 'refund' = 'state', timeMs?: number): string {
  const { timeMs: at, signature } = payer.query(what, timeMs)
  return `timeMs=${at}&signature=${signature}`
}

describe('POST /api/tabs', () => {
  it('takes an opening and a top-up, and takes them again without harm', async () => {
    const door = await TabDoor.open()
    const payer = await door.newPayer()
    for (const status of ['mempool', 'mempool'])
      expect((await door.handOver(payer.opening)).body).toEqual({ tabId: payer.tabId, txId: payer.tabId, status })
    await door.market.mineWaiting()
    expect((await door.handOver(payer.opening)).body).toMatchObject({ status: 'mined' })
    const { test } = door.market
    const fund = await test.tx(wallet(1), 'tab_fund', { tabId: payer.tabId, amount: units(5_000_000) })
    expect((await door.handOver(fund)).body).toEqual({ tabId: payer.tabId, txId: fund.txId, status: 'mempool' })
    await door.market.mineWaiting()
    const { body } = await ask<{ tab: JsonBody }>(door.url, `/api/tabs/${payer.tabId}`)
    expect(body.tab.deposit).toBe(`${payer.deposit + 5_000_000n}`)
  })

  it('refuses what would not open a tab here, before the payer loses the fee', async () => {
    const door = await TabDoor.open()
    const { test } = door.market
    const other = await door.newPayer({ agentId: agentId('other') }, 3)
    const low = await door.newPayer({ deposit: units(1_000_000) }, 4)
    await door.shop.publishTerms({ minDeposit: units(2_000_000), minCloseDelay: 1_200 })
    const short = await door.newPayer({}, 5)
    const invoke = await test.tx(wallet(6), 'tab_close', { tabId: low.tabId })
    const unknown = await test.tx(wallet(7), 'tab_fund', { tabId: low.tabId, amount: units(1_000) })
    expect(codeOf(await door.handOver(other.opening))).toBe('400 invalid_request')
    expect(codeOf(await door.handOver(low.opening))).toBe('409 tab_deposit_low')
    expect(codeOf(await door.handOver(short.opening))).toBe('409 tab_delay_short')
    expect(codeOf(await door.handOver(invoke))).toBe('400 invalid_request')
    expect(codeOf(await door.handOver(unknown))).toBe('404 tab_not_found')
    for (const transaction of ['ab', 'a', 'AB', '', 7])
      expect((await post(door.url, '/api/tabs', { transaction })).status).toBe(400)
    Object.assign(door.node.market!, { tabs: null })
    expect(codeOf(await door.handOver(short.opening))).toBe('503 tabs_disabled')
  })

  it('counts as a transaction for the limits of an address', async () => {
    const ratesPerMinute = { ...UNLIMITED, transaction: 2 }
    const door = await TabDoor.open({ limits: { ratesPerMinute } })
    const payer = await door.newPayer()
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await door.handOver(payer.opening)).status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

const MANY = 1_000_000
const UNLIMITED = {
  ...{ read: MANY, list: MANY, transaction: MANY, simulate: MANY, quote: MANY, settle: MANY, tab: MANY },
  ...{ mining: MANY, health: MANY, events: MANY, mcp: MANY, chat: MANY, 'sign-in': MANY },
}

describe('GET /api/tabs/{tabId}', () => {
  it('shows the record of the chain to every reader, and the rest to the payer alone', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    await door.call('ok', payer.voucher('ok'))
    const path = `/api/tabs/${payer.tabId}`
    const open = (await ask(door.url, path)).body
    expect(open).toEqual({
      tabId: payer.tabId,
      tab: expect.objectContaining({ agentId: 'shop', deposit: `${payer.deposit}`, claimed: '0', closesAt: 0 }),
      terms: { receiptKey: expect.stringMatching(/^[0-9a-f]{64}$/), minDeposit: '1000000', minCloseDelay: 400 },
    })
    const { tab } = open as { tab: { expiresAt: number; dueHeight: number } }
    expect(tab.dueHeight).toBe(tab.expiresAt)
    expect((await ask(door.url, `${path}?${signed(payer)}`)).body).toEqual({
      ...open,
      state: expect.objectContaining({ chargedCumulativeAmount: `${door.price}`, receipts: 1, nextSeq: 2 }),
      voucher: expect.objectContaining({ seq: 1, maxClaimableAmount: `${door.price}` }),
      lastReceipt: expect.objectContaining({ n: 1, charged: `${door.price}` }),
    })
    const stranger = await door.payer(3)
    const late = door.market.time.now() - 300_001
    const expected = {
      '401 tab_query_signature': [signed(payer, 'refund'), signed(stranger)],
      '400 tab_query_time': [signed(payer, 'state', late)],
      '400 invalid_request': ['timeMs=5', `signature=${'ab'.repeat(64)}`, `timeMs=5&signature=ab`, 'other=1'],
    }
    for (const [code, queries] of Object.entries(expected))
      for (const query of queries) expect(codeOf(await ask(door.url, `${path}?${query}`))).toBe(code)
    expect(codeOf(await ask(door.url, `/api/tabs/${'ab'.repeat(32)}`))).toBe('404 tab_not_found')
    expect((await ask(door.url, '/api/tabs/x')).status).toBe(400)
  })

  it('checks only some wrong signatures of one address, then none until later', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const codes = new Map<string, number>()
    const before = door.checks.count
    for (let i = 0; i < 60; i++) {
      const query = `timeMs=${door.market.time.now()}&signature=${signed(payer, 'refund').slice(-128)}`
      const code = codeOf(await ask(door.url, `/api/tabs/${payer.tabId}?${query}`))
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    expect([...codes.keys()]).toEqual(['401 tab_query_signature', '429 rate_limited'])
    expect(door.checks.count - before).toBe(codes.get('401 tab_query_signature'))
    expect(codes.get('429 rate_limited')).toBeGreaterThan(20)
  })
})

describe('GET /api/tabs/{tabId}/receipts', () => {
  it('gives the receipts in order, page by page, to the payer alone', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    for (const request of ['ok:1', 'fail', 'ok:3']) {
      const ceiling = payer.ceiling + door.price
      await door.call(request, payer.voucher(request, { ceiling }))
    }
    const path = `/api/tabs/${payer.tabId}/receipts`
    const page = async (query: string): Promise<JsonBody> => (await ask(door.url, `${path}?${query}`)).body
    const first = (await page(`limit=2&${signed(payer)}`)) as { receipts: JsonBody[]; next: number }
    expect(first.receipts.map(({ n, outcome }) => [n, outcome])).toEqual([
      [1, 0],
      [2, 1],
    ])
    expect(first.next).toBe(3)
    const last = (await page(`from=3&${signed(payer)}`)) as { receipts: JsonBody[]; next: null }
    expect([last.receipts.map(({ n }) => n), last.next]).toEqual([[3], null])
    expect(codeOf(await ask(door.url, path))).toBe('400 invalid_request')
    expect(codeOf(await ask(door.url, `${path}?${signed(payer, 'refund')}`))).toBe('401 tab_query_signature')
    expect(codeOf(await ask(door.url, `${path}?from=0&${signed(payer)}`))).toBe('400 invalid_request')
  })

  it('gives them after the end of the tab too, as long as they are kept', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    for (const request of ['ok:1', 'ok:2']) await door.call(request, payer.voucher(request))
    const { test, time } = door.market
    const claim = { voucher: [], claimed: units(0), receipts: 0, failed: 0, root: ZERO_HEX_32 as Hash, services: [] }
    const entries = [{ tabId: payer.tabId, close: true, ...claim }]
    await door.market.mine([await test.tx(wallet(2), 'tab_claim', { entries })])
    expect(door.shop.record(payer)).toBeUndefined()
    const path = `/api/tabs/${payer.tabId}`
    const receipts = async () => {
      const { body } = await ask<{ receipts: readonly JsonBody[] }>(door.url, `${path}/receipts?${signed(payer)}`)
      return body.receipts.map(({ n, tabId }) => [n, tabId])
    }
    const both = [1, 2].map((n) => [n, payer.tabId])
    expect(await receipts()).toEqual(both)
    const stranger = await door.payer(3)
    expect(codeOf(await ask(door.url, `${path}/receipts?${signed(stranger)}`))).toBe('401 tab_query_signature')
    expect(codeOf(await ask(door.url, `${path}?${signed(payer)}`))).toBe('404 tab_not_found')
    expect((await door.get(payer.refund())).body.code).toBe('tab_unknown')
    await door.shop.store.mark(payer.tabId, { endedAtMs: time.now() })
    await door.shop.store.prune(time.now(), 1_000_000)
    expect(await receipts()).toEqual(both)
    await door.shop.store.prune(time.now() + 1, 1_000_000)
    expect(await receipts()).toEqual([])
  })

  it('gives none of the tab of another seller, open or ended', async () => {
    const door = await TabDoor.open()
    const { market } = door
    const [owner, other] = [wallet(3), agentId('other')]
    const record = { ...SAMPLE.agent_register(), agentId: other, payout: owner.address, settlers: [] }
    await market.mine([await market.test.tx(owner, 'agent_register', record)])
    const terms = { agentId: other, receiptKey: TEST_SIGNER.key, minDeposit: units(1_000_000), minCloseDelay: 400 }
    await market.mine([await market.test.tx(owner, 'tab_terms', terms)])
    const payer = await door.newPayer({ agentId: other })
    await market.mine([payer.opening])
    const path = `/api/tabs/${payer.tabId}/receipts`
    expect(codeOf(await ask(door.url, `${path}?${signed(payer)}`))).toBe('402 tab_of_other_agent')
    const claim = { voucher: [], claimed: units(0), receipts: 0, failed: 0, root: ZERO_HEX_32 as Hash, services: [] }
    const entries = [{ tabId: payer.tabId, close: true, ...claim }]
    await market.mine([await market.test.tx(owner, 'tab_claim', { entries })])
    expect(door.shop.record(payer)).toBeUndefined()
    expect(codeOf(await ask(door.url, `${path}?${signed(payer)}`))).toBe('402 tab_of_other_agent')
  })
})
