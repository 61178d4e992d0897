import { afterEach, describe, expect, it } from 'vitest'
import type { DollarRail } from '../../../../marketplace/till/rails/dollar/dollar-rail.ts'
import { QuoteBook } from '../../../../rpc/cashier/quotes.ts'
import { bazaarItems, type Generation, type ResourceFilter } from '../../../../rpc/discovery/bazaar.ts'
import type { MarketApi } from '../../../../rpc/node/node-api.ts'
import { HERE, sellingNode, shownRail } from '../../../support/discovery-node.ts'
import { closeMarkets } from '../../../support/market.ts'

afterEach(closeMarkets)

interface Item {
  readonly resource: string
  readonly lastUpdated: string
  readonly accepts: readonly Readonly<Record<string, unknown>>[]
  readonly metadata: { readonly serviceId: string }
}

async function lister(stable?: DollarRail) {
  const { node, market } = await sellingNode(stable === undefined ? {} : { stable })
  const quotes = new QuoteBook(node.chain, node.market as MarketApi)
  const list = (generation: Generation, filter: ResourceFilter = {}, window = { limit: 20, offset: 0 }) => {
    const { texts, total } = bazaarItems({ node, quotes, baseUrl: HERE }, generation, { filter, window })
    return { total, items: texts.map((text) => JSON.parse(text) as Item) }
  }
  return { node, market, quotes, list }
}

const ids = ({ items }: { readonly items: readonly Item[] }) => items.map(({ metadata }) => metadata.serviceId)

describe('the list of x402 catalogues', () => {
  it('holds what can be bought now, with a date of ISO 8601, and nothing else', async () => {
    const { list } = await lister()
    const listed = list(2)
    expect(ids(listed)).toEqual(['node-test-again', 'node-test-once'])
    expect(listed.total).toBe(2)
    expect(listed.items[0]).toMatchObject({
      resource: `${HERE}/api/x402/node-test-again`,
      type: 'http',
      x402Version: 2,
      lastUpdated: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      accepts: [{ scheme: 'native-x402', network: 'farthing:1', amount: expect.stringMatching(/^[1-9]\d*$/) }],
      metadata: { category: 'utility', provider: 'Shop', input: { request: 'ok' } },
      extensions: { bazaar: { info: { input: { type: 'http', method: 'POST' } } } },
    })
  })

  it('says the same as the answer at the address that it lists, over either rail', async () => {
    for (const stable of [undefined, shownRail()]) {
      const { list, quotes, market } = await lister(stable)
      const [item] = list(2).items
      const rail = new URL(item!.resource).searchParams.get('rail') as 'stable' | null
      expect(rail).toBe(stable === undefined ? null : 'stable')
      const facts = { requestId: '', baseUrl: HERE, rail: rail ?? undefined }
      const offer = market.shop.offer('node-test-again')!
      const header = JSON.parse(Buffer.from(quotes.unpaid(offer, 'ok', facts).header, 'base64').toString()) as {
        readonly accepts: unknown
        readonly resource: { readonly url: string }
      }
      expect(item!.accepts).toEqual(header.accepts)
      expect(item!.resource).toBe(header.resource.url)
    }
  })

  it('is written in offers of generation 1 on wish: those that its clients can parse', async () => {
    const { list } = await lister(shownRail())
    const { items } = list(1)
    expect(items).toHaveLength(2)
    for (const { resource, accepts } of items) {
      expect(resource).toMatch(/\?rail=stable$/)
      expect(accepts).toHaveLength(1)
      expect(accepts[0]).toMatchObject({
        scheme: 'exact',
        network: 'base',
        resource,
        maxAmountRequired: '2000',
        outputSchema: { input: { discoverable: true } },
      })
    }
  })

  it('names the plain address again while the stablecoin rail takes nothing', async () => {
    const { list } = await lister(shownRail('no facilitator answers'))
    expect(list(2).items.map(({ resource }) => resource)).toEqual([
      `${HERE}/api/x402/node-test-again`,
      `${HERE}/api/x402/node-test-once`,
    ])
  })

  it('is filtered by everything that an offer says, and paged', async () => {
    const { list } = await lister(shownRail())
    expect(list(2, { scheme: 'exact', network: 'eip155:8453' }).total).toBe(2)
    expect(list(2, { scheme: 'exact', network: 'base' }).total).toBe(0)
    expect(list(1, { scheme: 'exact', network: 'base' }).total).toBe(2)
    expect(list(2, { payTo: '0X1111111111111111111111111111111111111111' }).total).toBe(2)
    expect(list(2, { payTo: '0x2222222222222222222222222222222222222222' }).total).toBe(0)
    expect(list(2, { type: 'mcp' }).total).toBe(0)
    expect(list(2, { extensions: 'bazaar' }).total).toBe(2)
    expect(list(2, { extensions: 'constructor' }).total).toBe(0)
    expect(ids(list(2, { query: 'TEST once' }))).toEqual(['node-test-once'])
    expect(list(2, {}, { limit: 1, offset: 1 })).toMatchObject({
      total: 2,
      items: [{ metadata: { serviceId: 'node-test-once' } }],
    })
    expect(list(2, {}, { limit: 1, offset: 2 })).toEqual({ total: 2, items: [] })
  })

  it('is empty as soon as nothing is sold, also at the same head', async () => {
    const { list, market } = await lister()
    expect(list(2).total).toBe(2)
    let closed: string | null = 'the node synchronises'
    market.shop.closeWhile(() => closed)
    expect(list(2).total).toBe(0)
    closed = null
    expect(list(2).total).toBe(2)
  })

  it('follows the head', async () => {
    const { list, market } = await lister()
    const [before] = list(2).items
    await market.mine()
    expect(list(2).items[0]!.lastUpdated > before!.lastUpdated).toBe(true)
  })
})
