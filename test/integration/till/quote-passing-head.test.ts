import { afterEach, expect, it } from 'vitest'
import { DEFAULT_MARKET_SETTINGS } from '../../../marketplace/till/settings.ts'
import { QuoteBook } from '../../../rpc/cashier/quotes.ts'
import { registryEntries } from '../../../rpc/market/registry.ts'
import type { MarketApi, NodeApi } from '../../../rpc/node/node-api.ts'
import { closeMarkets, ONCE, TestMarket } from '../../support/market.ts'
import { overtake } from '../../support/mempool.ts'

afterEach(closeMarkets)

const BASE_URL = 'http://here'

interface Option {
  readonly extra: { readonly available: boolean }
}

/** The quote to a caller and the entry in the registry. */
function told({ test: { chain }, ...parts }: TestMarket, book: QuoteBook) {
  const { shop, price } = parts
  const offer = shop.offer(ONCE)!
  const node = { chain, market: { shop, price, settings: DEFAULT_MARKET_SETTINGS, stable: null } } as unknown as NodeApi
  const { error, available, accepts, offers } = JSON.parse(
    book.unpaid(offer, 'ok', { requestId: 'x', baseUrl: BASE_URL }).body,
  ) as {
    error: string
    available: boolean
    accepts: readonly Option[]
    offers?: readonly Option[]
  }
  const listed = registryEntries(node, BASE_URL).find(({ serviceId }) => serviceId === ONCE)!
  const option = accepts[0] ?? offers?.[0]
  return { error, available, payable: accepts.length, option: option?.extra.available, listed: listed.available }
}

it('a passing head gives no quotes', async () => {
  const market = await TestMarket.open()
  const { chain } = market.test
  await market.test.mineTo(45)
  const api = {
    shop: market.shop,
    price: market.price,
    settings: DEFAULT_MARKET_SETTINGS,
    stable: null,
  } as unknown as MarketApi
  const book = new QuoteBook(chain, api)
  const open = { available: true, payable: 1, option: true, listed: true }
  expect(told(market, book)).toMatchObject(open)
  const { database } = chain
  const disconnect = database.disconnect.bind(database)
  const passing: unknown[] = []
  database.disconnect = async (...parts) => {
    await disconnect(...parts)
    passing.push({ height: chain.head.header.height, ...told(market, book) })
  }
  await overtake(
    market.test,
    10,
    Array.from({ length: 11 }, () => []),
  )
  const shut = {
    available: false,
    payable: 0,
    option: false,
    listed: false,
    error: expect.stringContaining('Do not pay now'),
  }
  expect(passing).toHaveLength(10)
  for (const one of passing) expect(one).toMatchObject(shut)
  expect(chain.head.header.height).toBe(46)
  expect(told(market, book)).toMatchObject(open)
})
