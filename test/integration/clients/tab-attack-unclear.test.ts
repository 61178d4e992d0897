import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClientOptions, memoryJournal } from '../../../rpc/client/client.ts'
import type { Answer, Json } from '../../support/lying-tab-seller.ts'
import { ACME, caught, devWallet, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** The seller is honest; what lies between it and the client is not, or the client lost its notes. */
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(() => world.close())
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 400, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.1', term: 1_200 })

/** The seller serves, and this comes instead of its answer. */
function instead(answer: Answer, times = Number.POSITIVE_INFINITY): void {
  let left = times
  world.mischief.lie = (told, path) => {
    if (!path.endsWith(ECHO) || told.settled === undefined || left <= 0) return told
    left -= 1
    return answer
  }
}

describe('an answer that does not come from the till leaves open what became of a call', () => {
  const answers: readonly (readonly [string, Answer])[] = [
    ['an internal error of the node', { status: 500, body: { error: 'internal error', code: 'internal_error' } }],
    [
      'a gateway with codes of its own',
      { status: 504, body: { error: 'upstream timed out', code: 'UPSTREAM_TIMEOUT' } },
    ],
    ['a firewall', { status: 403, body: { error: 'denied', code: 'waf_denied' } }],
    ['a proxy that waited too long', { status: 408, body: { error: 'timeout', code: 'request_timeout' } }],
    ['an answer that is too deep to read', { status: 200, body: { paid: true, result: deep(200) } }],
  ]

  function deep(levels: number): unknown {
    return levels === 0 ? 1 : [deep(levels - 1)]
  }

  it.each(answers)('%s: the call can be resumed, and the seller is not accused', async (_, answer) => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    instead(answer)
    expect(await caught(tab.call(ECHO, 'b'))).not.toBe('no error')
    expect(await tab.state()).toMatchObject({ unanswered: 1, unresolved: PRICE })
    world.calm()
    expect(await tab.resume()).toMatchObject([{ result: { echo: 'b' } }])
    await tab.call(ECHO, 'c')
    expect(await tab.state()).toMatchObject({ status: 'open', charged: 3n * PRICE })
  })
})

describe('answers that were paid for', () => {
  it('are all given by resume, also where one of the calls failed', async () => {
    const tab = await opened({ settleMs: 0 })
    world.mischief.mute = 3
    await Promise.all(['fail:1', 'good', 'fine'].map((text) => caught(tab.call(ECHO, text))))
    expect((await tab.state()).unanswered).toBe(3)
    const first = await tab.resume().catch((error: unknown) => error)
    const rest = await tab.resume().catch((error: unknown) => error)
    const told = JSON.stringify([first, rest], (_, each) => (typeof each === 'bigint' ? String(each) : each))
    expect(told).toContain('"echo":"good"')
    expect(told).toContain('"echo":"fine"')
  })

  it('are still there after the receipts of lost calls were looked for', async () => {
    const tab = await opened({ settleMs: 0 })
    world.mischief.mute = 2
    await Promise.all(['x', 'y'].map((text) => caught(tab.call(ECHO, text))))
    const [first, second] = tab.unanswered
    instead({ status: 409, body: { error: 'its result is deleted', code: 'result_expired' } })
    await caught(tab.resume(Number(first?.quoteId.split(':')[1])))
    world.calm()
    const [answer] = await tab.resume(Number(second?.quoteId.split(':')[1]))
    expect(answer?.result).toMatchObject({ echo: second?.request })
  })
})

describe('a wallet without notes', () => {
  it('goes on where a call of its earlier process was under way', async () => {
    const tab = await opened({ settleMs: 20_000 })
    const slow = tab.call(ECHO, 'slow:1500')
    await new Promise((resolve) => setTimeout(resolve, 300))
    const agent = client({ settleMs: 20_000 })
    await agent.recoverTabs({ maxUnnoted: '1' })
    await slow
    const found = await agent.tab(tab.tabId)
    expect((await found.call(ECHO, 'after')).result).toEqual({ echo: 'after' })
    expect((await found.state()).status).toBe('open')
  })

  it('believes nothing where the seller did not say how the tab stands', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    await tab.call(ECHO, 'b')
    world.mischief.lie = (answer, path) =>
      path.endsWith(tab.tabId) ? { status: 200, body: { tabId: tab.tabId } } : answer
    const agent = client()
    await agent.recoverTabs({ maxUnnoted: '0.001' })
    world.calm()
    const found = await agent.tab(tab.tabId)
    expect(await caught(found.call(ECHO, 'c'))).toMatchObject({ code: 'tab_unconfirmed' })
    expect((await found.state()).status).toBe('open')
  })

  it('that works on while another copy calls does not accuse the seller', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    const other = client()
    await other.recoverTabs({ maxUnnoted: '1' })
    await (await other.tab(tab.tabId)).call(ECHO, 'by the copy')
    const error = await caught(tab.call(ECHO, 'b'))
    const { evidence } = error as { readonly evidence?: Json }
    expect(evidence ?? null).toBeNull()
    expect((await tab.state()).reason ?? '').not.toContain('more charged than asked')
  })
})

describe('a price that rose for a moment', () => {
  it('is asked for again, as waiting is what the owner is told to do', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    world.seller.prices.set(ECHO, 400_000n)
    expect(await caught(tab.call(ECHO, 'b'))).toMatchObject({ code: 'price_rose' })
    world.seller.prices.delete(ECHO)
    expect((await tab.call(ECHO, 'c')).result).toEqual({ echo: 'c' })
  })

  it('named once by an answer does not shut the tab for ever', async () => {
    const tab = await opened()
    world.mischief.lie = (answer) => {
      if (answer.settled === undefined) return answer
      const extra = { ...(answer.settled.extra as Json), next: { amount: '9'.repeat(33), validUntil: 1 } }
      return { ...answer, settled: { ...answer.settled, extra } }
    }
    await tab.call(ECHO, 'a')
    world.calm()
    expect(await tab.call(ECHO, 'b')).toMatchObject({ result: { echo: 'b' } })
  })
})

describe('a tab at its end', () => {
  it('is replaced in automatic mode', async () => {
    const own = devWallet(4)
    const agent = client({
      tabs: { maxDeposit: '0.02', callsAhead: 5 },
      verify: false,
      wallet: own,
      journal: memoryJournal(),
    })
    const tab = await agent.openTab(ACME, { deposit: '0.02', term: 1_200 })
    for (let i = 0; i < 3; i++) await agent.call(ECHO, `alone ${i}`)
    await world.test.mineTo((world.tab(tab.tabId)?.expiresAt ?? 0) - 30)
    // A height is believed for half a minute.
    const now = Date.now
    Date.now = () => now() + 60_000
    try {
      await agent.call(ECHO, 'near the end')
      await agent.call(ECHO, 'still near the end')
    } finally {
      Date.now = now
    }
    expect((await agent.tabs()).length).toBe(2)
  })
})
