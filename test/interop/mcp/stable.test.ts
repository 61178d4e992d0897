import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tabsOpen } from '../../support/caller.ts'
import { Workshop } from '../../support/daemon.ts'
import { type DollarOffer, type Generation, paymentObject, signOffer } from '../x402/payments.ts'
import { PRICE, PURSE, Shop } from '../x402/shop.ts'
import { type AgentClient, CLIENTS, connect } from './clients.ts'

const workshop = new Workshop()
const SOLD = 'node-test-again'
const PAYMENT = 'x402/payment'
let shop: Shop

beforeAll(async () => {
  shop = await Shop.open(workshop)
  await tabsOpen(shop.url)
})
afterAll(() => shop?.close())

/** Signs the payment that a paid tool asks for. */
async function order(client: AgentClient, request: string, generation: Generation = 2) {
  const payer = await shop.chain.payer(PURSE)
  const { structuredContent } = await client.call(SOLD, { request })
  const { accepts } = structuredContent as { readonly accepts: readonly DollarOffer[] }
  const offer = accepts.find(({ scheme }) => scheme === 'exact') as DollarOffer
  const signed = await signOffer(payer, offer)
  const v1 = { ...offer, network: 'base-sepolia' }
  return { payer, signed, meta: { [PAYMENT]: paymentObject(generation, generation === 1 ? v1 : offer, signed) } }
}

describe.each(CLIENTS)('the stablecoin rail through the official client %s', (name) => {
  let client: AgentClient

  beforeAll(async () => {
    client = await connect(name, shop.url)
  })
  afterAll(() => client?.close())

  it('offers the stablecoin first, then the coin, and tabs last', async () => {
    const { structuredContent } = await client.call(SOLD, { request: 'ok' })
    const { accepts } = structuredContent as { readonly accepts: readonly DollarOffer[] }
    expect(accepts.map(({ scheme }) => scheme)).toEqual(['exact', 'native-x402', 'batch-settlement'])
  })

  it.each([1, 2] as const)('is paid in generation %i, on the other chain and once', async (generation) => {
    const request = shop.newRequest()
    const { payer, meta } = await order(client, request, generation)
    const paid = await client.call(SOLD, { request }, meta)
    expect(paid).toMatchObject({ structuredContent: { paid: true, result: { echo: request } } })
    expect(paid._meta?.['x402/payment-response']).toMatchObject({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: generation === 1 ? 'base-sepolia' : 'eip155:84532',
    })
    expect([await shop.spent(payer), shop.runs({ serviceId: SOLD, request })]).toEqual([PRICE, 1])
    const other = await client.call(SOLD, { request: shop.newRequest() }, meta)
    expect([other.isError, await shop.spent(payer)]).toEqual([true, PRICE])
    expect(other.structuredContent).not.toHaveProperty('result')
  })

  it('refuses a signature over another amount with fresh terms, and moves nothing', async () => {
    const request = shop.newRequest()
    const { payer, signed, meta } = await order(client, request)
    const { authorization } = signed as unknown as { readonly authorization: object }
    const forged = {
      ...(meta[PAYMENT] as object),
      payload: { ...signed, authorization: { ...authorization, value: '1' } },
    }
    const refused = await client.call(SOLD, { request }, { [PAYMENT]: forged })
    expect(refused.isError).toBe(true)
    expect(refused.structuredContent).toMatchObject({ x402Version: 2, accepts: expect.any(Array) })
    expect([await shop.spent(payer), shop.runs({ serviceId: SOLD, request })]).toEqual([0n, 0])
  })

  it('never gives the result where the settlement fails after the work', async () => {
    const request = shop.newRequest()
    const { payer, meta } = await order(client, request)
    shop.facilitator.troubles.set('/settle', 'error')
    const refused = await client.call(SOLD, { request }, meta)
    expect(refused.isError).toBe(true)
    expect(refused.structuredContent).not.toHaveProperty('result')
    expect(JSON.stringify(refused.content)).not.toContain('echo')
    shop.facilitator.reset()
    expect(shop.runs({ serviceId: SOLD, request })).toBe(1)
    expect([0n, PRICE]).toContain(await shop.spent(payer))
  })
})
