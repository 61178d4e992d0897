import { writeFileSync } from 'node:fs'
import { ExactEvmScheme } from '@x402/evm'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig, type x402ClientConfig } from '@x402/fetch'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../../support/api.ts'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import { OWN_NETWORK } from '../evm/network.ts'
import type { PaidBody } from './payments.ts'
import { PURSE, Shop } from './shop.ts'

/** All tests run on a network unknown to clients, with a facilitator that asks for keys. */
const KEYS = { '*': 'Bearer of-the-house', '/settle': 'Bearer of-the-till' }
const CAIP2 = `eip155:${OWN_NETWORK.chainId}` as const
/** Price of test services, in units of a token with eight decimals. */
const PRICE = 200_000n

const workshop = new Workshop()
const key = generatePrivateKey()
const wallet = privateKeyToAccount(key)
let shop: Shop

beforeAll(async () => {
  const keyFile = workshop.path('refund-key')
  writeFileSync(keyFile, key)
  const env = { FARTHING_STABLE_REFUND_KEY_FILE: keyFile }
  shop = await Shop.open(workshop, { env, network: OWN_NETWORK, keys: KEYS })
  await shop.chain.mint(wallet.address, PURSE)
})
afterEach(() => {
  shop.facilitator.keys = KEYS
  shop.facilitator.reset()
})
afterAll(() => shop?.close())

/** Buys with the public client, which pays only in tokens of well-known networks unless `spendControls` allow more. */
function buy(request: string, payer: PrivateKeyAccount, spendControls?: x402ClientConfig['spendControls']) {
  const schemes = [{ network: CAIP2, client: new ExactEvmScheme(payer) }]
  const paying = wrapFetchWithPaymentFromConfig(fetch, { schemes, ...(spendControls && { spendControls }) })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ request }) }
  return paying(`${shop.url}/api/x402/node-test-once`, init)
}

describe("a network of the operator's own", () => {
  it('is paid on by @x402/fetch, once that trusts the token', async () => {
    const payer = await shop.chain.payer(PURSE)
    const request = shop.newRequest()
    await expect(buy(request, payer)).rejects.toThrow()
    expect([await shop.spent(payer), shop.runs({ serviceId: 'node-test-once', request })]).toEqual([0n, 0])
    const asset = { network: CAIP2, asset: OWN_NETWORK.token }
    const incomeBefore = await shop.income()
    const response = await buy(request, payer, { allowedAssets: [asset] })
    const { paid, result, receipt } = (await response.json()) as PaidBody
    const [use] = await shop.chain.uses(payer.address)
    expect([response.status, paid, result]).toEqual([200, true, { echo: request }])
    expect(receipt).toMatchObject({ network: 'house', amount: 0.002, amountBaseUnits: `${PRICE}` })
    expect(receipt.txId).toBe(use?.transaction)
    expect([await shop.spent(payer), (await shop.income()) - incomeBefore]).toEqual([PRICE, PRICE])
    const settlement = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
    expect(settlement).toMatchObject({ success: true, transaction: use?.transaction, network: CAIP2 })
  })

  it('is what the node says of itself', async () => {
    const { body } = await ask<{ readonly evmStableRail: object }>(shop.url, '/.well-known/x402')
    expect(body.evmStableRail).toMatchObject({ mode: 'live', authVerified: true })
    expect(JSON.stringify(body.evmStableRail)).toContain(CAIP2)
  })
})

describe('a facilitator that wants to be shown who asks', () => {
  it('is shown what its file says, by path', async () => {
    const call = await shop.order()
    expect((await shop.send(call)).status).toBe(200)
    expect([shop.facilitator.count('/verify'), shop.facilitator.count('/settle')]).toEqual([1, 1])
    expect(shop.facilitator.turnedAway).toEqual([])
  })

  it('and does not let the node in: nothing runs, nothing is charged, and it works once it does', async () => {
    const call = await shop.order()
    shop.facilitator.keys = { '*': 'Bearer of-another-house' }
    const refused = await shop.send(call)
    expect(refused).toMatchObject({ status: 503, body: { charged: false } })
    expect(refused.text).not.toContain('Bearer')
    expect([shop.facilitator.turnedAway.includes('/verify'), shop.runs(call)]).toEqual([true, 0])
    shop.facilitator.keys = KEYS
    expect((await shop.sendUntilKnown(call)).status).toBe(200)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })
})

/** A failed call whose authorization is carried out all the same, as anyone who saw it can. */
async function chargedForNothing() {
  const call = await shop.order({ serviceId: 'node-test-once', request: 'fail' })
  expect(await shop.send(call)).toMatchObject({ status: 502, body: { charged: false } })
  await shop.chain.carryOut(call.signed)
  expect(await shop.spent(call.payer)).toBe(PRICE)
  return call
}

describe('money that came for a call that failed', () => {
  it('is paid back on the chain, once, even if no caller asks', async () => {
    const purseBefore = await shop.chain.balance(wallet.address)
    const call = await chargedForNothing()
    await until('it is paid back', async () => (await shop.spent(call.payer)) === 0n, { ms: 120_000 })
    expect(purseBefore - (await shop.chain.balance(wallet.address))).toBe(PRICE)
    expect(await shop.chain.uses(wallet.address)).toHaveLength(1)
    expect((await shop.send(call)).status).toBeGreaterThanOrEqual(400)
  })

  it('is paid back once where the node is killed and the answer to the refund is lost', async () => {
    const usesBefore = (await shop.chain.uses(wallet.address)).length
    shop.facilitator.troubles.set('/settle', 'cut')
    const call = await chargedForNothing()
    await until('it is paid back', async () => (await shop.spent(call.payer)) === 0n, { ms: 120_000 })
    await shop.daemon.kill()
    shop.facilitator.reset()
    await shop.start()
    await until('the node knows it', async () => (await shop.listed(call.payer))[0]?.status === 'refunded', {
      ms: 120_000,
    })
    expect(await shop.spent(call.payer)).toBe(0n)
    expect(await shop.chain.uses(wallet.address)).toHaveLength(usesBefore + 1)
  })
})
