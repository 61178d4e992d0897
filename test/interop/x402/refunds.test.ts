import { writeFileSync } from 'node:fs'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import { PRICE, PURSE, Shop } from './shop.ts'

const workshop = new Workshop()
const key = generatePrivateKey()
const wallet = privateKeyToAccount(key)
let shop: Shop

beforeAll(async () => {
  const keyFile = workshop.path('refund-key')
  writeFileSync(keyFile, key)
  shop = await Shop.open(workshop, { env: { FARTHING_STABLE_REFUND_KEY_FILE: keyFile } })
  await shop.chain.mint(wallet.address, PURSE)
})
afterAll(() => shop?.close())

/** A call that failed, whose authorization somebody carries out all the same: whoever saw it can. */
async function chargedForNothing() {
  const call = await shop.order({ serviceId: 'node-test-once', request: 'fail' })
  expect(await shop.send(call)).toMatchObject({ status: 502, body: { charged: false } })
  await shop.chain.carryOut(call.signed)
  expect(await shop.spent(call.payer)).toBe(PRICE)
  return call
}

describe('money that came for a call that failed', () => {
  it('is paid back on the chain, once, without anybody asking', async () => {
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
