import { parsePaymentRequirements } from '@x402/core/schemas'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { withBazaar } from '@x402/extensions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ListDiscoveryResourcesResponseSchema } from 'x402/types'
import { ask } from '../../support/api.ts'
import { Workshop } from '../../support/daemon.ts'
import { CLIENTS } from './clients.ts'
import { PRICE, PURSE, Shop } from './shop.ts'

const workshop = new Workshop()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.open(workshop)
})
afterAll(() => shop?.close())

/** The official client of catalogues, with the node as the facilitator. */
function bazaar() {
  return withBazaar(new HTTPFacilitatorClient({ url: shop.url })).extensions.bazaar
}

describe('the catalogue that the official client asks for', () => {
  it('lists services with offers that its schema takes', async () => {
    const { items, pagination } = await bazaar().listResources({ limit: 100 })
    expect(items.length).toBeGreaterThan(10)
    expect(pagination.total).toBe(items.length)
    for (const { accepts, lastUpdated, resource } of items) {
      expect(accepts.length).toBeGreaterThan(0)
      for (const offer of accepts) expect(parsePaymentRequirements(offer).error?.issues).toBeUndefined()
      expect(new Date(lastUpdated).toISOString()).toBe(lastUpdated)
      expect(resource).toMatch(/\?rail=stable$/)
    }
  })

  it('filters by scheme and network, and finds by words', async () => {
    const filtered = await bazaar().listResources({ scheme: 'exact', network: 'eip155:84532' } as never)
    expect(filtered.items.length).toBeGreaterThan(0)
    const none = await bazaar().listResources({ scheme: 'exact', network: 'eip155:1' } as never)
    expect(none.items).toEqual([])
    const { resources } = await bazaar().search({ query: 'mempool' })
    expect(resources.length).toBeGreaterThan(0)
  })

  it('leaves out what cannot be bought', async () => {
    const { items } = await bazaar().listResources({ limit: 100 })
    expect(items.filter(({ resource }) => resource.includes('node-test-closed'))).toEqual([])
  })
})

describe('the list in the shape of generation 1', () => {
  it('is one that the schema of its package takes', async () => {
    const { body } = await ask<{ readonly items: readonly { readonly lastUpdated: string }[] }>(
      shop.url,
      '/x402/discovery?x402Version=1&limit=100',
    )
    // The schema wants Date objects, as in the package's server. JSON has text.
    const items = body.items.map((item) => ({ ...item, lastUpdated: new Date(item.lastUpdated) }))
    expect(items.length).toBeGreaterThan(10)
    expect(ListDiscoveryResourcesResponseSchema.safeParse({ ...body, items }).error?.issues).toBeUndefined()
  })
})

describe.each(CLIENTS)('$name', ({ post, generation }) => {
  it('pays at the address that the catalogue names', async () => {
    const query = `x402Version=${generation}&scheme=exact&limit=100`
    const { body } = await ask<{ readonly items: readonly { readonly resource: string }[] }>(
      shop.url,
      `/x402/discovery?${query}`,
    )
    const found = body.items.find(({ resource }) => resource.includes('node-test-again'))
    const payer = await shop.chain.payer(PURSE)
    const answer = await post(found?.resource ?? '', { request: 'ok' }, payer, shop.chain)
    expect(answer.status).toBe(200)
    expect(await shop.spent(payer)).toBe(PRICE)
  })
})
