import { decodePaymentResponseHeader } from '@x402/fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeXPaymentResponse } from 'x402-fetch'
import { Workshop } from '../../support/daemon.ts'
import { CLIENTS, type OfficialClient } from './clients.ts'
import { PRICE, PURSE, Shop } from './shop.ts'

const workshop = new Workshop()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.open(workshop)
})
afterAll(() => shop?.close())

/** Buys a call with a client; everything that may be compared afterwards. */
async function bought({ post, query }: OfficialClient, serviceId: string, request: string) {
  const payer = await shop.chain.payer(PURSE)
  const incomeBefore = await shop.income()
  const answer = await post(`${shop.url}/api/x402/${serviceId}${query}`, { request }, payer, shop.chain)
  const income = (await shop.income()) - incomeBefore
  return { answer, payer, income, spent: await shop.spent(payer), uses: await shop.chain.uses(payer.address) }
}

describe.each(CLIENTS)('$name, unmodified', (client) => {
  it('pays and gets result, receipt and settlement; the chain shows exactly that', async () => {
    const request = shop.newRequest()
    const { answer, payer, income, spent, uses } = await bought(client, 'node-test-once', request)
    expect(answer).toMatchObject({ status: 200, body: { paid: true, result: { echo: request } } })
    expect([spent, income]).toEqual([PRICE, PRICE])
    expect(uses).toHaveLength(1)
    const transaction = uses[0]?.transaction
    expect(answer.body.receipt).toMatchObject({
      serviceId: 'node-test-once',
      rail: 'stable',
      caller: payer.address.toLowerCase(),
      txId: transaction,
      amount: 0.002,
      amountBaseUnits: PRICE.toString(),
      asset: 'USDC',
      network: 'base-sepolia',
    })
    expect(shop.runs({ serviceId: 'node-test-once', request })).toBe(1)
    expect(await shop.listed(payer)).toMatchObject([
      { txId: transaction, serviceId: 'node-test-once', rail: 'stable', status: 'completed', amount: 0.002 },
    ])
  })

  it('reads the settlement in the header of its generation', async () => {
    const { answer, payer, uses } = await bought(client, 'node-test-again', shop.newRequest())
    const { headers } = answer
    const settlement =
      client.generation === 2
        ? decodePaymentResponseHeader(headers.get('payment-response') ?? '')
        : decodeXPaymentResponse(headers.get('x-payment-response') ?? '')
    const network = client.generation === 2 ? 'eip155:84532' : 'base-sepolia'
    const transaction = uses[0]?.transaction
    expect(settlement).toMatchObject({ success: true, transaction, network, payer: payer.address.toLowerCase() })
  })

  it('is not charged where the service fails', async () => {
    const { answer, spent, income, uses } = await bought(client, 'node-test-again', 'fail')
    expect(answer.status).toBe(502)
    expect(answer.body).toMatchObject({ charged: false })
    expect(uses).toEqual([])
    expect([spent, income]).toEqual([0n, 0n])
  })
})

describe('one client after another', () => {
  it('can buy the same thing again: each authorization is a payment of its own', async () => {
    const client = CLIENTS[0] as OfficialClient
    const payer = await shop.chain.payer(PURSE)
    const request = shop.newRequest()
    const url = `${shop.url}/api/x402/node-test-again`
    for (let i = 0; i < 3; i++) expect((await client.post(url, { request }, payer, shop.chain)).status).toBe(200)
    expect(await shop.spent(payer)).toBe(3n * PRICE)
    expect(shop.runs({ serviceId: 'node-test-again', request })).toBe(3)
  })
})
