import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { amount } from '../../../consensus/primitives/amount.ts'
import { type AgentClient, type ClientOptions, memoryJournal } from '../../../rpc/client/client.ts'
import type { Tab } from '../../../rpc/client/sdk/tabs/tab-shapes.ts'
import { type Answer, type Json, receiptOf } from '../../support/lying-tab-seller.ts'
import { ACME, caught, devWallet, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** Answers that an honest seller gave, which come late, again, or changed: it is never accused, and its tab goes on. */
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(() => world.close())
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 400, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.1', term: 1_200 })

/** A corrective answer with other members in `extra`. */
function corrective(tab: Tab, change: Json = {}): Answer {
  const told = world.seller.terms(ECHO, 'tab_ceiling_low', tab.tabId)
  const accepts = (told.body.accepts as readonly Json[]).map((offer) => {
    return { ...offer, extra: { ...(offer.extra as Json), ...change } }
  })
  return { ...told, body: { ...told.body, accepts } }
}

describe('a state that is older than a receipt', () => {
  it('is asked for once more: an answer that came late costs nothing', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    const late = corrective(tab)
    await tab.call(ECHO, 'b')
    const sell = world.seller.call.bind(world.seller)
    world.seller.call = async () => {
      world.seller.call = sell
      return late
    }
    expect((await tab.call(ECHO, 'c')).result).toEqual({ echo: 'c' })
    expect(await tab.state()).toMatchObject({ status: 'open', charged: 3n * PRICE })
  })

  it('stops the tab if it stays old, accuses no seller, and automatic mode locks no more with it', async () => {
    const own = devWallet(4)
    const agent = client({ wallet: own, tabs: { maxDeposit: '0.02', callsAhead: 5 }, verify: false })
    for (let i = 0; i < 5; i++) await agent.call(ECHO, `first ${i}`)
    const [tab] = (await agent.tabs()) as [Tab]
    const old = world.seller.copy()
    await agent.call(ECHO, 'newer')
    const sell = world.seller.call.bind(world.seller)
    world.seller.call = async () => {
      world.seller.ledgers = old
      return corrective(tab)
    }
    expect(await caught(agent.call(ECHO, 'x'))).toMatchObject({ code: 'tab_behind', evidence: null })
    world.seller.call = sell
    for (let i = 0; i < 5; i++) await agent.call(ECHO, `last ${i}`)
    expect((await agent.tabs()).length).toBe(1)
  })
})

describe('a server that a client of x402 asks', () => {
  const offered = () => (world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json])[0]
  const served = () => world.seller.served.filter((each) => each.endsWith('taken')).length
  /** The server has the call served, and keeps the answer. */
  async function stolen(agent: AgentClient) {
    const { payload, settled } = await agent.tabProof(offered(), 'taken')
    const before = served()
    expect((await world.seller.call(ECHO, 'taken', payload)).status).toBe(200)
    expect(served()).toBe(before + 1)
    return settled
  }

  it('cannot deny a call that was served by the state before it', async () => {
    const agent = client()
    const tab = await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    await tab.call(ECHO, 'a')
    const before = corrective(tab)
    const settled = await stolen(agent)
    await caught(settled(before))
    // What the call may cost is not forgotten, and the number is not given twice.
    expect(await tab.state()).toMatchObject({ status: 'open', unresolved: PRICE })
    for (const text of ['b', 'c', 'd']) expect((await tab.call(ECHO, text)).result).toEqual({ echo: text })
    expect(await tab.state()).toMatchObject({ status: 'open', reason: null })
    expect(world.seller.ledger(tab.tabId).charged).toBe(5n * PRICE)
    // The own node is the seller: asked again with the same bytes it gives the answer.
    expect(await tab.resume()).toMatchObject([{ result: { echo: 'taken' } }])
    expect(await tab.state()).toMatchObject({ charged: 5n * PRICE, unresolved: 0n })
    expect(await tab.verifyReceipts()).toMatchObject({ ok: true, evidence: null })
  })

  it.each([
    ['an old state', (_: Tab, __: Json, old: Answer) => old],
    [
      'a state that charges more',
      (tab: Tab) =>
        corrective(tab, {
          channelState: { balance: '10000000', chargedCumulativeAmount: '9000000', receipts: 2, nextSeq: 3 },
        }),
    ],
    ['numbers that are far away', (tab: Tab, before: Json) => corrective(tab, withSeq(before, 1_000))],
    [
      'another last receipt',
      (tab: Tab) =>
        corrective(tab, { lastReceipt: { ...world.seller.ledger(tab.tabId).receipts[0], signature: '0'.repeat(128) } }),
    ],
    [
      'a receipt that is not signed',
      (tab: Tab): Answer => {
        const receipt = { ...world.seller.ledger(tab.tabId).receipts[0], signature: '0'.repeat(128) }
        return { status: 200, body: { receipt: { tab: receipt } } }
      },
    ],
    [
      'a receipt of another tab',
      (): Answer => {
        const [other] = [...world.seller.ledgers.values()].filter(({ receipts }) => receipts.length > 0)
        return { status: 200, body: { receipt: { tab: other?.receipts[0] } } }
      },
    ],
  ])('does not stop the tab by %s', async (_, lie) => {
    const agent = client()
    const tab = await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    await tab.call(ECHO, 'a')
    const old = corrective(tab)
    await tab.call(ECHO, 'b')
    const before = world.seller.state(tab.tabId)
    const settled = await stolen(agent)
    await caught(settled(lie(tab, before, old)))
    expect(await tab.state()).toMatchObject({ status: 'open', reason: null, unresolved: PRICE })
    for (const text of ['c', 'd', 'e']) expect(await caught(tab.call(ECHO, text))).toBe('no error')
    expect(await tab.state()).toMatchObject({ status: 'open', reason: null })
  })

  function withSeq({ channelState, ...rest }: Json, more: number): Json {
    const { nextSeq, ...state } = channelState as Json
    return { ...rest, channelState: { ...state, nextSeq: Number(nextSeq) + more } }
  }

  it('gets vouchers for one number only, however often it refuses', async () => {
    const agent = client()
    const tab = await agent.openTab(ACME, { deposit: '0.01', term: 1_200 })
    await tab.call(ECHO, 'a')
    const vouchers = new Map<number, bigint>()
    for (let i = 0; i < 20; i++) {
      const { payload, settled } = await agent.tabProof(offered(), `refused ${i}`)
      const { seq, maxClaimableAmount } = payload.voucher as { seq: number; maxClaimableAmount: string }
      vouchers.set(seq, BigInt(maxClaimableAmount))
      expect(await settled(corrective(tab))).toBe(true)
    }
    expect([...vouchers.keys()]).toEqual([2])
    expect(await tab.state()).toMatchObject({ unresolved: PRICE })
    // The next call that is served ends the matter.
    await tab.call(ECHO, 'b')
    expect(await tab.state()).toMatchObject({ charged: 2n * PRICE, unresolved: 0n, unanswered: 0 })
  })
})

describe('a seller is not accused', () => {
  it('of calls that another copy of the wallet made', async () => {
    const tab = await opened({ settleMs: 0 })
    await tab.call(ECHO, 'a')
    // This one has a number that the seller does not know of.
    world.mischief.deaf = 1
    await caught(tab.call(ECHO, 'lost on its way'))
    const copy = client()
    await copy.recoverTabs({ maxUnnoted: '1' })
    const other = await copy.tab(tab.tabId)
    world.seller.prices.set(ECHO, 250_000n)
    await other.call(ECHO, 'by the copy')
    await other.call(ECHO, 'also by the copy', { maxPrice: '1' })
    world.seller.prices.delete(ECHO)
    const ends = [
      await caught(tab.call(ECHO, 'b')),
      await caught(tab.call(ECHO, 'c')),
      await caught(tab.call(ECHO, 'd')),
    ]
    for (const end of ends) expect((end as { evidence?: unknown }).evidence ?? null).toBeNull()
    const { evidence } = await tab.verifyReceipts()
    expect(evidence).toBeNull()
  })

  it('of a result that was changed on its way', async () => {
    const tab = await opened()
    world.mischief.lie = (answer) =>
      answer.settled === undefined ? answer : { ...answer, body: { ...answer.body, result: { echo: 'changed' } } }
    expect(await caught(tab.call(ECHO, 'a'))).toMatchObject({ name: 'VerificationError' })
    world.calm()
    expect(await caught(tab.call(ECHO, 'b'))).toMatchObject({ code: 'tab_stopped', evidence: null })
  })

  it('of a receipt of another call, which is no answer to this one', async () => {
    const other = await opened()
    const { tab: facts } = await other.call(ECHO, 'of another tab')
    const tab = await opened()
    world.mischief.lie = (answer) =>
      answer.settled === undefined ? answer : { ...answer, body: { ...answer.body, receipt: { tab: facts?.receipt } } }
    expect(await caught(tab.call(ECHO, 'a'))).toMatchObject({ code: 'interrupted' })
    world.calm()
    expect(await tab.resume()).toMatchObject([{ result: { echo: 'a' } }])
    expect((await tab.state()).status).toBe('open')
  })
})

describe('evidence', () => {
  it('is no claim that a node tells where it hides the record of the tab', async () => {
    const journal = memoryJournal()
    const tab = await opened({ journal })
    await tab.call(ECHO, 'a')
    await world.claim(tab.tabId)
    const lying: typeof fetch = async (input, init) => {
      if (/\/api\/v1\/tabs\/[0-9a-f]{64}$/.test(String(input)))
        return new Response('{"error":"none","code":"tab_not_found"}', { status: 404 })
      const answer = await fetch(input, init)
      if (!/\/claims\?/.test(String(input))) return answer
      const body = (await answer.json()) as { readonly claims: readonly Json[] }
      const claims = body.claims.map((claim) => ({ ...claim, root: 'ab'.repeat(32) }))
      return new Response(JSON.stringify({ ...body, claims }), { status: answer.status })
    }
    const checked = await (await client({ journal, fetch: lying }).tab(tab.tabId)).verifyReceipts()
    expect(checked).toMatchObject({ ok: false, checks: { chain: null, roots: false }, evidence: null })
    expect(await caught(tab.call(ECHO, 'b'))).toBe('no error')
  })

  it('has both receipts for one number, also where newer ones are known', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    await tab.call(ECHO, 'b')
    const [first] = world.seller.ledger(tab.tabId).receipts as [Json]
    const forged = world.seller.signed({ ...receiptOf(first), durationMs: 77 })
    const sell = world.seller.call.bind(world.seller)
    world.seller.call = async () => {
      const channelState = { balance: '10000000', chargedCumulativeAmount: PRICE.toString(), receipts: 1, nextSeq: 2 }
      return corrective(tab, { channelState, lastReceipt: forged })
    }
    const error = await caught(tab.call(ECHO, 'c'))
    world.seller.call = sell
    expect(error).toMatchObject({
      evidence: { kind: 'two receipts for one number', receipts: [{ n: 1 }, { n: 1, durationMs: 77 }] },
    })
  })

  it('has the receipt of a failed call that has a price', async () => {
    const tab = await opened()
    world.mischief.lie = (answer) => {
      const { receipt } = answer.body as { readonly receipt?: Json }
      if (receipt?.tab === undefined) return answer
      const signed = world.seller.signed({
        ...receiptOf(receipt.tab as Json),
        charged: amount(1n),
        cumulative: amount(1n),
      })
      return { ...answer, body: { ...answer.body, receipt: { ...receipt, tab: signed } } }
    }
    await caught(tab.call(ECHO, 'fail:1'))
    expect(await caught(tab.call(ECHO, 'a'))).toMatchObject({
      evidence: { kind: 'a receipt that does not fit its call', receipts: [{ outcome: 1, charged: '1' }] },
    })
  })
})
