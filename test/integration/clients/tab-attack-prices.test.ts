import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ClientOptions, memoryJournal } from '../../../rpc/client/client.ts'
import type { Json } from '../../support/lying-tab-seller.ts'
import { ACME, caught, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** What a service costs when a tab begins: the chain says it, not the seller. */
let world: TabWorld
beforeEach(async () => {
  world = await TabWorld.open()
})
afterEach(() => world.close())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 1_000, verify: false, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.2', term: 1_200 })

/** The registry of the chain, as the node shows it from now on. */
function registry(change: (service: Json) => Json): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    if (!/\/api\/v1\/agents\/[a-z]+$/.test(String(input))) return answer
    const body = (await answer.json()) as { readonly agent: Json & { readonly services: readonly Json[] } }
    const agent = { ...body.agent, services: body.agent.services.map(change) }
    return new Response(JSON.stringify({ ...body, agent }), { status: answer.status })
  }
}

describe('a seller that asks a hundred times its price at the first call of a tab', () => {
  const dear = 100n * PRICE
  const limits = { maxPerCallUsd: 1 }

  it('gets no voucher without consent, and one with it', async () => {
    const tab = await opened(limits)
    world.seller.prices.set(ECHO, dear)
    expect(await caught(tab.call(ECHO, 'a'))).toMatchObject({ code: 'price_rose' })
    expect(world.seller.seen).toEqual([])
    world.seller.prices.set(ECHO, 250_001n)
    expect(await caught(tab.call(ECHO, 'b'))).toMatchObject({ code: 'price_rose' })
    world.seller.prices.set(ECHO, 250_000n)
    await tab.call(ECHO, 'c')
    world.seller.prices.set(ECHO, 260_000n)
    await tab.call(ECHO, 'd', { maxPrice: '0.0026' })
    expect((await tab.state()).charged).toBe(510_000n)
  })

  it('gets none by a corrective answer either', async () => {
    const tab = await opened(limits)
    const sell = world.seller.call.bind(world.seller)
    world.seller.call = async (service, request, payload) => {
      world.seller.prices.set(ECHO, dear)
      return sell(service, request, payload)
    }
    expect(await caught(tab.call(ECHO, 'a'))).toMatchObject({ code: 'price_rose' })
    expect(world.seller.seen.length).toBe(1)
  })

  it('gets none by a new price in the registry after the opening, in any process', async () => {
    const journal = memoryJournal()
    const { tabId } = await opened({ ...limits, journal })
    world.seller.prices.set(ECHO, dear)
    const later = client({ ...limits, journal, fetch: registry((service) => ({ ...service, priceUsd: '0.05' })) })
    const tab = await later.tab(tabId)
    expect(await caught(tab.call(ECHO, 'a'))).toMatchObject({ code: 'price_rose' })
    expect(world.seller.seen).toEqual([])
  })

  it('gets none from a wallet that found its tab on the chain, and keeps to what that one saw first', async () => {
    const { tabId } = await opened(limits)
    world.seller.prices.set(ECHO, dear)
    const journal = memoryJournal()
    const agent = client({ ...limits, journal })
    await agent.recoverTabs()
    expect(await caught((await agent.tab(tabId)).call(ECHO, 'a'))).toMatchObject({ code: 'price_rose' })
    const later = client({ ...limits, journal, fetch: registry((service) => ({ ...service, priceUsd: '0.05' })) })
    expect(await caught((await later.tab(tabId)).call(ECHO, 'a'))).toMatchObject({ code: 'price_rose' })
    expect(world.seller.seen).toEqual([])
  })

  it('gets none for a service that the chain does not have', async () => {
    const tab = await opened({ ...limits, fetch: registry(() => ({ serviceId: 'another', priceUsd: '0.0005' })) })
    expect(await caught(tab.call(ECHO, 'a'))).toMatchObject({ code: 'price_rose' })
    expect(world.seller.seen).toEqual([])
  })

  it('is found out by a second node where the own one helps it', async () => {
    const secondNode = world.url.replace('127.0.0.1', 'localhost')
    const lie = registry((service) => ({ ...service, priceUsd: '0.05' }))
    const lying: typeof fetch = (input, init) =>
      String(input).startsWith(world.url) ? lie(input, init) : fetch(input, init)
    expect(await caught(opened({ ...limits, secondNode, fetch: lying }))).toMatchObject({ code: 'nodes_disagree' })
  }, 30_000)

  it('gets no deposit in automatic mode: calls are paid one by one, within the limits', async () => {
    const agent = client({ ...limits, tabs: { maxDeposit: '0.5', callsAhead: 2 } })
    world.seller.prices.set(ECHO, dear)
    for (let i = 0; i < 5; i++) await agent.call(ECHO, `alone ${i}`)
    expect(await agent.tabs()).toEqual([])
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json]
    expect(await caught(agent.tabProof(offer, 'x'))).toMatchObject({ code: 'other_price' })
    expect(await agent.tabs()).toEqual([])
  })
})

describe('where no node says what a coin is worth', () => {
  it('limits in coins hold, and the first price that was paid is the one at the beginning', async () => {
    const blind: typeof fetch = async (input, init) =>
      String(input).includes('services.json') ? new Response('{"services":[]}') : fetch(input, init)
    const tab = await opened({ fetch: blind, maxPerCallCoins: '0.003', maxPerTabCoins: '1' })
    world.seller.prices.set(ECHO, 300_001n)
    expect(await caught(tab.call(ECHO, 'a'))).toMatchObject({ code: 'over_call_limit' })
    world.seller.prices.set(ECHO, PRICE)
    await tab.call(ECHO, 'b')
    world.seller.prices.set(ECHO, 250_001n)
    expect(await caught(tab.call(ECHO, 'c'))).toMatchObject({ code: 'price_rose' })
  })
})

describe('a price whose time is over', () => {
  it('is asked for again: an honest seller takes the price of the day where vouchers of failed calls leave room', async () => {
    const tab = await opened()
    await Promise.all(Array.from({ length: 4 }, (_, i) => caught(tab.call(ECHO, `fail:${i}`))))
    await world.test.mineTo(world.test.height + 40)
    world.seller.prices.set(ECHO, 240_000n)
    const { now } = Date
    // A height is believed for half a minute.
    Date.now = () => now() + 60_000
    try {
      expect((await tab.call(ECHO, 'a')).tab?.charged).toBe(240_000n)
    } finally {
      Date.now = now
    }
    expect(await tab.state()).toMatchObject({ status: 'open', charged: 240_000n })
  })
})
