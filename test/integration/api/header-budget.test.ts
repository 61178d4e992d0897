import { afterEach, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { SERVICE_TABLE } from '../../../marketplace/services/table.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../../marketplace/till/settings.ts'
import { QuoteBook } from '../../../rpc/cashier/quotes.ts'
import type { MarketApi } from '../../../rpc/node/node-api.ts'
import { TERMS } from '../../support/dollar.ts'
import { closeMarkets } from '../../support/market.ts'
import { closeTabShops, TabShop } from '../../support/tabs.ts'

afterEach(async () => {
  await closeTabShops()
  await closeMarkets()
})

/** A hosted facilitator refused payments with larger headers. Clients echo the header in the payment. */
const HEADER_BYTES_MAX = 3_000
/** A corrective refusal has more, and no client echoes it. */
const CORRECTIVE_BYTES_MAX = 6_000
const FACTS = { requestId: 'x', baseUrl: 'https://agents.market.example.com' }

async function book(closedBecause: string | null) {
  const { market, rail: tabs } = await TabShop.open({ services: SERVICE_TABLE })
  const { shop, price, test } = market
  await test.mineTo(45)
  const stable = { terms: TERMS, closedBecause }
  const receiverAuthorizer = `0x${'aB'.repeat(20)}`
  const channels = {
    terms: { ...TERMS, receiverAuthorizer, withdrawDelay: 2_592_000, leastDeposit: 10n ** 12n },
    closedBecause,
  }
  const api = { shop, price, settings: DEFAULT_MARKET_SETTINGS, stable, tabs, channels }
  return { quotes: new QuoteBook(test.chain, api as unknown as MarketApi), offers: shop.offers }
}

interface Option {
  readonly scheme: string
}

function base64(terms: object): string {
  return Buffer.from(JSON.stringify(terms)).toString('base64')
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

  it('of every service stays below it under ?rail=tab and ?rail=channel; together with the other rails no offer of a tab would fit', async () => {
    const { quotes, offers } = await book(null)
    expect(offers).toHaveLength(SERVICE_TABLE.length)
    for (const offer of offers) {
      for (const rail of ['tab', 'channel'] as const) {
        const { header } = quotes.unpaid(offer, offer.definition.example, { ...FACTS, rail })
        expect(optionsIn(header).map(({ scheme }) => scheme)).toEqual(['batch-settlement'])
        const { serviceId } = offer.definition
        expect([serviceId, header.length < HEADER_BYTES_MAX]).toEqual([serviceId, true])
      }
      const resource = `${FACTS.baseUrl}/api/x402/${offer.definition.serviceId}?rail=stable`
      const whole = base64(quotes.terms(offer, { ...FACTS, resource, withTabs: true }))
      expect(optionsIn(whole).length).toBeGreaterThanOrEqual(3)
      expect(whole.length).toBeGreaterThan(HEADER_BYTES_MAX)
    }
  })

  it('of a corrective refusal is small enough for every reader of headers', async () => {
    const { quotes, offers } = await book(null)
    const amount = `${2n ** 112n}`
    const hash = 'ab'.repeat(32)
    const counts = { seq: 4_294_967_295, n: 4_294_967_295, durationMs: 4_294_967_295, timeMs: Number.MAX_SAFE_INTEGER }
    const receipt = { tabId: hash, ...counts, serviceId: 'x'.repeat(48), context: hash, resultHash: hash, outcome: 0 }
    const signature = hash.repeat(2)
    const corrective = {
      channelState: {
        channelId: hash,
        balance: amount,
        totalClaimed: amount,
        chargedCumulativeAmount: amount,
        ...counts,
      },
      voucherState: { seq: counts.seq, maxClaimableAmount: amount, context: hash, signature },
      lastReceipt: { ...receipt, charged: amount, cumulative: amount, signature },
    }
    const cause = fault('tabcall/seq-used', { tabId: hash, seq: counts.seq, nextSeq: counts.seq })
    for (const offer of offers) {
      const { header } = quotes.refused(offer, cause, { ...FACTS, rail: 'tab', corrective })
      expect(header.length).toBeLessThan(CORRECTIVE_BYTES_MAX)
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
