import { parsePaymentRequired } from '@x402/core/schemas'
import {
  type DiscoveryExtension,
  extractDiscoveryInfoV1,
  isDiscoverableV1,
  isPaymentIdentifierExtension,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PaymentRequirementsSchema, x402ResponseSchema } from 'x402/types'
import { ask } from '../../support/api.ts'
import { Workshop } from '../../support/daemon.ts'
import { dollarOffer, termsOf } from './payments.ts'
import { Shop } from './shop.ts'

/** Some facilitators refuse larger payments, and clients echo most of the header in the payment. */
const HEADER_BYTES_MAX = 3_000

const workshop = new Workshop()
let shop: Shop
interface Entry {
  readonly serviceId: string
  readonly available: boolean
}
/** Services for sale and services that are not. */
let services: readonly Entry[]
let closed: readonly Entry[]

beforeAll(async () => {
  shop = await Shop.open(workshop)
  const { body } = await ask<{ readonly services: readonly Entry[] }>(shop.url, '/services.json')
  services = body.services.filter(({ available }) => available)
  closed = body.services.filter(({ available }) => !available)
})
afterAll(() => shop?.close())

describe('a quote of what cannot be bought now', () => {
  it('has nothing that a client pays: its options are offers, in body and header alike', async () => {
    expect(closed.map(({ serviceId }) => serviceId)).toContain('node-test-closed')
    for (const { serviceId } of closed) {
      const reply = await shop.quote(serviceId, '')
      const { body } = reply
      expect([reply.status, body.available, body.accepts, termsOf(reply).accepts]).toEqual([402, false, [], []])
      expect(body.offers?.map(({ scheme }) => scheme)).toContain('native-x402')
      expect(parsePaymentRequired(termsOf(reply)).success).toBe(false)
      expect(x402ResponseSchema.parse({ x402Version: 1, accepts: body.accepts }).accepts).toEqual([])
    }
  })
})

describe('every quote', () => {
  it('has terms that the official schema takes, small enough for every facilitator', async () => {
    expect(services.length).toBeGreaterThan(20)
    for (const { serviceId } of services) {
      for (const query of ['', '?rail=stable', '?rail=native']) {
        const reply = await shop.quote(serviceId, '', query)
        expect(reply.status).toBe(402)
        const parsed = parsePaymentRequired(termsOf(reply))
        expect(parsed.success ? [] : [serviceId, query, parsed.error.issues]).toEqual([])
        expect(reply.headers.get('payment-required')?.length).toBeLessThan(HEADER_BYTES_MAX)
      }
    }
  })

  it('is one that generation 1 can parse where it is asked for the stablecoin alone', async () => {
    for (const { serviceId } of services) {
      const { body } = await shop.quote(serviceId, '', '?rail=stable')
      expect(body.accepts).toHaveLength(1)
      expect(PaymentRequirementsSchema.safeParse(body.accepts?.[0]).error?.issues).toBeUndefined()
      expect(x402ResponseSchema.safeParse({ x402Version: 1, accepts: body.accepts }).error?.issues).toBeUndefined()
    }
  })

  it('says the same in both generations, the stablecoin first', async () => {
    for (const { serviceId } of services) {
      const reply = await shop.quote(serviceId, '')
      const [v1, v2] = [reply.body.accepts?.[0], termsOf(reply).accepts[0]]
      expect(v1).toMatchObject({ scheme: 'exact', network: 'base-sepolia', payTo: shop.payTo })
      expect(v2).toMatchObject({ scheme: 'exact', network: 'eip155:84532', payTo: shop.payTo })
      expect(v2?.amount).toBe(v1?.maxAmountRequired)
    }
  })

  it('is for the URL that was called; generation 1 is led to the answer that it can parse', async () => {
    for (const { serviceId } of services) {
      const own = `${shop.url}/api/x402/${serviceId}`
      for (const query of ['', '?rail=stable']) {
        const reply = await shop.quote(serviceId, '', query)
        const resources = [termsOf(reply).resource.url, dollarOffer(reply, 1).resource]
        expect(resources).toEqual([own + query, `${own}?rail=stable`])
      }
    }
  })

  it('has the extensions that the official package takes', async () => {
    for (const { serviceId } of services) {
      const { extensions } = termsOf(await shop.quote(serviceId, '', '?rail=stable'))
      const bazaar = extensions.bazaar as DiscoveryExtension
      expect({ serviceId, ...validateDiscoveryExtension(bazaar) }).toEqual({ serviceId, valid: true })
      expect({ serviceId, ...validateDiscoveryExtensionSpec({ ...bazaar }) }).toEqual({ serviceId, valid: true })
      expect(isPaymentIdentifierExtension(extensions['payment-identifier'])).toBe(true)
    }
  })

  it('is one that catalogues of generation 1 list', async () => {
    for (const { serviceId } of services) {
      const { body } = await shop.quote(serviceId, '', '?rail=stable')
      const offer = body.accepts?.[0] as never
      expect(isDiscoverableV1(offer)).toBe(true)
      expect(extractDiscoveryInfoV1(offer)).toMatchObject({ input: { type: 'http', method: 'POST' } })
    }
  })
})
