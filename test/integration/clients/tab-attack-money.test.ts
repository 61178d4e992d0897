import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AgentClient,
  type ClientOptions,
  InterruptedPaymentError,
  memoryJournal,
  type Payment,
  type PaymentJournal,
  type TabJournal,
  type TabNote,
} from '../../../rpc/client/client.ts'
import type { Json } from '../../support/lying-tab-seller.ts'
import { ACME, caught, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** What a client spends: one payment for one call, one opening and one top-up for one wish. */
let world: TabWorld
// A chain of its own for each test: a wallet without notes may find what another test left open.
beforeEach(async () => {
  world = await TabWorld.open()
})
afterEach(() => world.close())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 1_000, verify: false, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.1', term: 1_200 })

/** A client with automatic tabs that has one. */
async function automatic(options: Partial<ClientOptions> = {}): Promise<AgentClient> {
  const agent = client({ tabs: { maxDeposit: '0.02', callsAhead: 5 }, ...options })
  for (let i = 0; i < 3; i++) await agent.call(ECHO, `alone ${i}`)
  return agent
}

/** A journal whose notes of tabs fail while `fails` says so. */
function failing(fails: (note: TabNote) => boolean): PaymentJournal {
  const journal = memoryJournal()
  const tabs = journal.tabs as TabJournal
  return {
    ...journal,
    tabs: {
      append: (note) => {
        if (fails(note)) throw new Error('no space left on device')
        return tabs.append(note)
      },
      read: (tabId) => tabs.read(tabId),
      list: () => tabs.list(),
    },
  }
}

describe('a call in automatic mode is paid once', () => {
  it('where the seller took the voucher and then says what cannot be', async () => {
    const agent = await automatic()
    await agent.call(ECHO, 'first on the tab')
    const [tab] = await agent.tabs()
    expect(tab).toBeDefined()
    const before = world.sent.length
    world.mischief.lie = (answer, path) => {
      if (!path.endsWith(ECHO) || answer.status !== 200 || answer.settled === undefined) return answer
      const told = world.seller.terms(ECHO, 'tab_ceiling_low', tab?.tabId)
      const accepts = (told.body.accepts as readonly Json[]).map((offer) => {
        const extra = offer.extra as Json
        const channelState = { ...(extra.channelState as Json), chargedCumulativeAmount: '9000000' }
        return { ...offer, extra: { ...extra, channelState } }
      })
      return { ...told, body: { ...told.body, accepts } }
    }
    expect(await caught(agent.call(ECHO, 'served once'))).toMatchObject({ code: 'tab_stopped' })
    expect(world.sent.length).toBe(before)
    expect(world.seller.served.filter((each) => each.endsWith('served once')).length).toBe(1)
  })

  it('where its receipt cannot be noted', async () => {
    let isFull = false
    const agent = await automatic({ journal: failing((note) => isFull && note.what === 'receipt') })
    await agent.call(ECHO, 'first on the tab')
    const before = world.sent.length
    isFull = true
    await caught(agent.call(ECHO, 'noted nowhere'))
    expect(world.sent.length).toBe(before)
    expect(world.seller.served.filter((each) => each.endsWith('noted nowhere')).length).toBe(1)
  })

  it('where a first voucher was refused and the deposit does not reach for a second one', async () => {
    const agent = await automatic({ tabs: { maxDeposit: '0.01', callsAhead: 5 } })
    for (let i = 0; i < 4; i++) await agent.call(ECHO, `used ${i}`)
    const before = world.sent.length
    world.seller.prices.set(ECHO, 210_000n)
    await caught(agent.call(ECHO, 'dearer'))
    const own = world.seller.seen.filter((payload) => payload.type !== 'refund').length
    expect(own).toBeGreaterThan(0)
    // The seller has a voucher for this call: it must not get a payment as well.
    expect(world.sent.length).toBe(before)
  })
})

describe('one wish is one transaction', () => {
  it('calls side by side on a tab that is used up add to it once', async () => {
    const agent = await automatic({ tabs: { maxDeposit: '0.02', callsAhead: 5 } })
    for (let i = 0; i < 5; i++) await agent.call(ECHO, `used ${i}`)
    const before = world.sent.length
    await Promise.all(Array.from({ length: 4 }, (_, i) => caught(agent.call(ECHO, `side ${i}`))))
    expect(world.sent.length - before).toBe(1)
  })

  it('top-ups side by side do not go over the limit of a tab', async () => {
    const tab = await opened({ maxPerTabCoins: '0.25' })
    const ends = await Promise.all(['0.1', '0.1'].map((coins) => caught(tab.topUp(coins))))
    expect(world.tab(tab.tabId)?.deposit).toBeLessThanOrEqual(25_000_000n)
    expect(ends).toContainEqual(expect.objectContaining({ code: 'over_tab_limit' }))
  })

  it('an opening that waits for its block is not followed by another one', async () => {
    const agent = await automatic({ settleMs: 300 })
    world.isMining = false
    const before = world.sent.length
    await caught(agent.call(ECHO, 'opens'))
    await caught(agent.call(ECHO, 'opens again'))
    await caught(agent.call(ECHO, 'and again'))
    const tabs = await agent.tabs()
    world.isMining = true
    for (let i = 0; i < 3; i++) await world.mine()
    expect(tabs.length).toBe(1)
    // The opening, and a payment of its own for each of the two other calls.
    expect(new Set(world.sent.slice(before)).size).toBe(3)
  })

  it('a top-up whose block came late is not followed by another one', async () => {
    const agent = await automatic({ settleMs: 300, tabs: { maxDeposit: '0.02', callsAhead: 5 } })
    for (let i = 0; i < 5; i++) await agent.call(ECHO, `used ${i}`)
    const [tab] = await agent.tabs()
    const deposit = world.tab(tab?.tabId ?? '')?.deposit ?? 0n
    world.isMining = false
    expect(await caught(agent.call(ECHO, 'waits'))).toMatchObject({ code: 'interrupted' })
    world.isMining = true
    await world.mine()
    await agent.call(ECHO, 'goes on')
    expect((world.tab(tab?.tabId ?? '')?.deposit ?? 0n) - deposit).toBe(5n * PRICE)
  })

  it('the payment of an interrupted opening can be resumed as the error says', async () => {
    const agent = client({ settleMs: 300 })
    world.isMining = false
    const error = await caught(agent.openTab(ACME, { deposit: '0.1', term: 1_200 }))
    expect(error).toBeInstanceOf(InterruptedPaymentError)
    world.isMining = true
    await world.mine()
    const { payment } = error as InterruptedPaymentError
    await caught(agent.resume(payment as Payment))
    // It bought no call of a service without a name, and the tab can be used.
    expect(world.seller.served).toEqual([])
    expect((await (await agent.tabWith(ACME))?.state())?.status).toBe('open')
  })

  it('a node that shows a smaller deposit than was sent gets no more than maxDeposit', async () => {
    let lies = false
    const lying: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init)
      if (!lies || !/\/api\/v1\/tabs\/[0-9a-f]{64}$/.test(String(input))) return answer
      const body = (await answer.json()) as { tab: Json }
      const tab = { ...body.tab, deposit: { ...(body.tab.deposit as Json), units: '1' } }
      return new Response(JSON.stringify({ ...body, tab }), { status: answer.status })
    }
    const agent = await automatic({ fetch: lying })
    await agent.call(ECHO, 'opens')
    const [tab] = await agent.tabs()
    lies = true
    await tab?.state()
    for (let i = 0; i < 6; i++) await caught(agent.call(ECHO, `lied to ${i}`))
    expect(world.tab(tab?.tabId ?? '')?.deposit).toBeLessThanOrEqual(2_000_000n)
  })

  it('a process that starts without notes finds its tab on the chain before it opens another', async () => {
    await (await automatic()).call(ECHO, 'opens')
    const second = await automatic()
    const before = world.sent.length
    await second.call(ECHO, 'second process')
    expect(world.sent.length).toBe(before)
  })

  it('a top-up is for calls, also in a process that knows no price yet', async () => {
    const journal = memoryJournal()
    const first = await automatic({ journal })
    for (let i = 0; i < 5; i++) await first.call(ECHO, `used ${i}`)
    const [tab] = await first.tabs()
    const deposit = world.tab(tab?.tabId ?? '')?.deposit ?? 0n
    const second = await automatic({ journal })
    await caught(second.call(ECHO, 'a new process'))
    const more = (world.tab(tab?.tabId ?? '')?.deposit ?? 0n) - deposit
    expect([0n, 5n * PRICE]).toContain(more)
  })

  it('a dry run sends no opening that an earlier process noted', async () => {
    const journal = memoryJournal()
    world.isMining = false
    const dead: typeof fetch = (input, init) =>
      String(input).endsWith('/api/v1/tx') ? Promise.reject(new Error('cut')) : fetch(input, init)
    await caught(client({ journal, fetch: dead, settleMs: 0 }).openTab(ACME, { deposit: '0.1', term: 1_200 }))
    const before = world.sent.length
    const agent = client({ journal, dryRun: true, settleMs: 3_000 })
    await caught(agent.tabWith(ACME))
    world.isMining = true
    expect(world.sent.length).toBe(before)
  })
})

describe('a voucher', () => {
  it('has a ceiling for calls that were sent, not for those that could not be noted', async () => {
    let isFull = false
    const tab = await opened({ journal: failing((note) => isFull && note.what === 'call') })
    await tab.call(ECHO, 'a')
    isFull = true
    await Promise.all(Array.from({ length: 8 }, (_, i) => caught(tab.call(ECHO, `lost ${i}`))))
    isFull = false
    const from = world.seller.seen.length
    await tab.call(ECHO, 'b')
    const { voucher } = world.seller.seen[from] as { readonly voucher: Json }
    expect(BigInt(String(voucher.maxClaimableAmount))).toBe(2n * PRICE)
  })
})
