import { decodePaymentResponseHeader } from '@x402/fetch'
import { concat, type Hex, serializeErc6492Signature } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeXPaymentResponse } from 'x402-fetch'
import { Workshop } from '../../support/daemon.ts'
import { authorization, ofWallet, sign } from '../evm/authorization.ts'
import { CLIENTS, type OfficialClient } from './clients.ts'
import { carried, dollarOffer, paymentObject, unitsOf } from './payments.ts'
import { PRICE, PURSE, Shop } from './shop.ts'

const workshop = new Workshop()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.open(workshop)
})
afterAll(() => shop?.close())

/** Buys a call with a client. Returns everything that the tests compare. */
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

  it.each([
    ['what cannot be bought now', 'node-test-closed', 'ok'],
    ['a request that cannot be used', 'node-test-again', 'refuse'],
  ])('pays nothing for %s', async (_, serviceId, request) => {
    const payer = await shop.chain.payer(PURSE)
    const url = `${shop.url}/api/x402/${serviceId}${client.query}`
    const answer = client.post(url, { request }, payer, shop.chain)
    const ended = await answer.then(
      ({ status }) => status,
      (cause: unknown) => cause,
    )
    // The clients either throw an error or return the 402.
    expect(ended instanceof Error || ended === 402).toBe(true)
    expect([await shop.spent(payer), await shop.chain.uses(payer.address)]).toEqual([0n, []])
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

/** A payment of a contract wallet. `wrap` turns the owner's signature into the contract's. */
async function contractOrder(from: Hex, owner: PrivateKeyAccount, wrap: (signature: Hex) => Hex) {
  const serviceId = 'node-test-once'
  const request = shop.newRequest()
  const offer = dollarOffer(await shop.quote(serviceId, request, '?rail=stable'), 2)
  const { authorization: said, signature } = await sign(
    owner,
    authorization({ from, to: offer.payTo, value: unitsOf(offer) }),
  )
  const headers = carried(2, paymentObject(2, offer, { authorization: said, signature: wrap(signature) }))
  return { serviceId, request, headers }
}

describe('a wallet that is a contract', () => {
  it('pays with a signature that the chain alone can judge (ERC-1271)', async () => {
    const { address, owner } = await shop.chain.contractWallet(PURSE)
    const call = await contractOrder(address, owner, ofWallet)
    expect(await shop.send(call)).toMatchObject({ status: 200, body: { paid: true, result: { echo: call.request } } })
    expect(PURSE - (await shop.chain.balance(address))).toBe(PRICE)
    expect([await shop.chain.uses(address), shop.runs(call)]).toMatchObject([[{}], 1])
    expect((await shop.send(call)).status).toBe(409)
    expect(shop.runs(call)).toBe(1)
  })

  it('does not pay with what its contract does not take', async () => {
    const { address } = await shop.chain.contractWallet(PURSE)
    const stranger = shop.chain.newKey()
    for (const wrap of [ofWallet, (signature: Hex) => signature, (signature: Hex) => concat([signature, '0x01'])]) {
      const call = await contractOrder(address, stranger, wrap)
      expect(await shop.send(call)).toMatchObject({ status: 402, body: { x402: true } })
      expect(shop.runs(call)).toBe(0)
    }
    expect(await shop.chain.balance(address)).toBe(PURSE)
  })

  it('does not pay before it is there: a facilitator deploys no factory that it does not know (ERC-6492)', async () => {
    const { address } = await shop.chain.payer(PURSE)
    const factory = { address: '0x00000000000000000000000000000000000000fa', data: '0x1234' } as const
    const call = await contractOrder(address, shop.chain.newKey(), (signature) =>
      serializeErc6492Signature({ ...factory, signature: ofWallet(signature) }),
    )
    const refused = await shop.send(call)
    expect(refused).toMatchObject({ status: 402, body: { x402: true, code: 'payment_refused' } })
    expect(shop.runs(call)).toBe(0)
    expect(await shop.chain.balance(address)).toBe(PURSE)
  })
})
