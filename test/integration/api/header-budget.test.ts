import { afterEach, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { SERVICE_TABLE } from '../../../marketplace/services/table.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../../marketplace/till/settings.ts'
import { QuoteBook } from '../../../rpc/cashier/quotes.ts'
import type { MarketApi } from '../../../rpc/node/node-api.ts'
import { TERMS } from '../../support/dollar.ts'
import { closeMarkets, TestMarket } from '../../support/market.ts'

afterEach(closeMarkets)

/** A hosted facilitator refused payments with larger headers. Clients echo the header in the payment. */
const HEADER_BYTES_MAX = 3_000
const FACTS = { requestId: 'x', baseUrl: 'https://agents.market.example.com' }

async function book(closedBecause: string | null) {
  const market = await TestMarket.open({ services: SERVICE_TABLE })
  const { shop, price, test } = market
  await test.mineTo(45)
  const api = { shop, price, settings: DEFAULT_MARKET_SETTINGS, stable: { terms: TERMS, closedBecause } }
  return { quotes: new QuoteBook(test.chain, api as unknown as MarketApi), offers: shop.offers }
}

interface Option {
  readonly scheme: string
}

/** All options of a header. Those that can be paid now come first. */
function optionsIn(header: string): readonly Option[] {
  const terms = JSON.parse(Buffer.from(header, 'base64').toString()) as {
    readonly accepts: readonly Option[]
    readonly offers?: readonly Option[]
  }
  return [...terms.accepts, ...(terms.offers ?? [])]
}

it('the terms of a name lookup say that a name that is resolved off chain is refunded', async () => {
  const { quotes, offers } = await book(null)
  const offer = offers.find(({ definition }) => definition.serviceId === 'node-ens-resolve') as (typeof offers)[number]
  const { body } = quotes.unpaid(offer, offer.definition.example, FACTS)
  expect(body).toContain('A name that is answered off chain is not followed: the call is refunded.')
})

describe('the header PAYMENT-REQUIRED', () => {
  it('of every service, with both rails, stays below the limit of facilitators', async () => {
    const { quotes, offers } = await book(null)
    expect(offers.length).toBeGreaterThan(20)
    for (const offer of offers) {
      const { header } = quotes.unpaid(offer, offer.definition.example, FACTS)
      expect(optionsIn(header).map(({ scheme }) => scheme)).toEqual(['exact', 'native-x402'])
      expect([offer.definition.serviceId, header.length < HEADER_BYTES_MAX]).toEqual([offer.definition.serviceId, true])
    }
  })

  it('stays below it if the offer is refused or cannot be bought', async () => {
    const { quotes, offers } = await book('no facilitator of the stablecoin rail can be used now')
    for (const offer of offers) {
      const cause = fault('pay/no-offer', { field: 'accepted.maxTimeoutSeconds', got: 'x'.repeat(80), expected: '120' })
      const { header } = quotes.refused(offer, cause, FACTS)
      expect([offer.definition.serviceId, header.length < HEADER_BYTES_MAX]).toEqual([offer.definition.serviceId, true])
    }
  })
})
